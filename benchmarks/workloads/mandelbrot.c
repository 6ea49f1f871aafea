#include <stdint.h>
void mandelbrot(const float *restrict x, const float *restrict y,
                int32_t *restrict near, int64_t n, int64_t steps) {
    for (int64_t i = 0; i < n; i++) {
        float a = 0, b = 0;
        int32_t count = 0;
        for (int64_t k = 0; k < steps; k++) {
            float next = a * a - b * b + x[i];
            b = 2 * a * b + y[i];
            a = next;
            count += a * a + b * b < 4;
        }
        near[i] = count;
    }
}
