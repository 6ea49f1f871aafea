#include <stdint.h>
int32_t length(int64_t start) {
    int32_t n = start, steps = 0;
    while (n != 1) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        steps++;
    }
    return steps;
}
