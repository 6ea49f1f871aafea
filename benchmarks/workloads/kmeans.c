#include <math.h>
#include <stdint.h>
void step(const float *restrict x, const float *restrict centres,
          float *restrict sums, float *restrict counts,
          int64_t points, int64_t width, int64_t k) {
    for (int64_t i = 0; i < points; i++) {
        int64_t nearest = 0;
        float least = INFINITY;
        for (int64_t j = 0; j < k; j++) {
            float distance = 0;
            for (int64_t m = 0; m < width; m++) {
                float d = x[i * width + m] - centres[j * width + m];
                distance += d * d;
            }
            if (distance < least) { nearest = j; least = distance; }
        }
        for (int64_t m = 0; m < width; m++)
            sums[nearest * width + m] += x[i * width + m];
        counts[nearest] += 1;
    }
    for (int64_t j = 0; j < k; j++)
        for (int64_t m = 0; m < width; m++)
            sums[j * width + m] /= counts[j];
}
