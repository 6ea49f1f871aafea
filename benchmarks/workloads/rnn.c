#include <math.h>
#include <stdint.h>
#include <string.h>
void rnn(const float *restrict x, const float *restrict w,
         const float *restrict u, const float *restrict b,
         float *restrict out, float *restrict state,
         int64_t batch, int64_t steps, int64_t width) {
    float next[width];
    for (int64_t i = 0; i < batch; i++) {
        memset(state, 0, width * sizeof(float));
        for (int64_t t = 0; t < steps; t++) {
            const float *in = x + (i * steps + t) * width;
            for (int64_t j = 0; j < width; j++) next[j] = b[j];
            for (int64_t k = 0; k < width; k++)
                for (int64_t j = 0; j < width; j++)
                    next[j] += in[k] * w[k * width + j]
                        + state[k] * u[k * width + j];
            for (int64_t j = 0; j < width; j++) {
                state[j] = tanhf(next[j]);
                out[(i * steps + t) * width + j] = state[j];
            }
        }
    }
}
