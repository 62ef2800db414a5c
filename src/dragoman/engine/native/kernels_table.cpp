// Which table of inner loops runs here.
#include <cmath>
#include <cstring>

#include "kernels.h"

namespace dragoman {

#if defined(__x86_64__)
extern const Kernels kernels_avx512bf16;
extern const Kernels kernels_avx512;
extern const Kernels kernels_avx2;
#endif
extern const Kernels kernels_plain;

static const Kernels* best_table() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vnni"))
        return __builtin_cpu_supports("avx512bf16") ? &kernels_avx512bf16 : &kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &kernels_avx2;
#endif
    return &kernels_plain;
}

static const Kernels* chosen = best_table();

const Kernels& kernels() { return *chosen; }

int use_kernels(const char* name) {
    const Kernels* best = best_table();
#if defined(__x86_64__)
    const Kernels* known[] = {&kernels_avx512bf16, &kernels_avx512, &kernels_avx2, &kernels_plain};
#else
    const Kernels* known[] = {&kernels_plain};
#endif
    bool runs = false;  // tables come from the most demanding to the least
    for (const Kernels* table : known) {
        runs = runs || table == best;
        if (runs && std::strcmp(table->name, name) == 0) {
            chosen = table;
            return 0;
        }
    }
    return 1;
}

void best_of_row(const float* log_probability, int width, int count, Best& best) {
    best.most = 0.0f;
    best.sum = 1.0f;
    for (int i = 0; i < count; ++i) best.value[i] = -INFINITY;
    for (int token = 0; token < width; ++token) {
        if (!(log_probability[token] > best.value[count - 1])) continue;
        int place = count - 1;
        for (; place > 0 && best.value[place - 1] < log_probability[token]; --place) {
            best.value[place] = best.value[place - 1];
            best.token[place] = best.token[place - 1];
        }
        best.value[place] = log_probability[token];
        best.token[place] = token;
    }
}

}  // namespace dragoman
