#include <math.h>
#include <stdint.h>
void gelu(const float *restrict x, float *restrict y, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        float inner = 0.7978845608028654f
            * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
        y[i] = 0.5f * x[i] * (1 + tanhf(inner));
    }
}
