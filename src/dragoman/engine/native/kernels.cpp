// Compiled once for each instruction set; ISA names the table.
#include "kernels.h"

#include <cfloat>
#include <cmath>
#include <cstring>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace dragoman {
namespace {

// As many floats as one register holds, and how many rows times registers a tile of a product has.
#if defined(__AVX512F__)
constexpr int LANES = 16, TILE_ROWS = 6, TILE_VECTORS = 4;
#elif defined(__AVX2__)
constexpr int LANES = 8, TILE_ROWS = 6, TILE_VECTORS = 2;
#else
constexpr int LANES = 4, TILE_ROWS = 4, TILE_VECTORS = 4;
#endif
typedef float Vector __attribute__((vector_size(4 * LANES)));
typedef float LooseVector __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

inline Vector load(const float* from) { return *reinterpret_cast<const LooseVector*>(from); }
inline void put(float* to, Vector what) { *reinterpret_cast<LooseVector*>(to) = what; }

// 16 floats, in as many registers as it takes.
typedef float Wide __attribute__((vector_size(64)));
typedef float LooseWide __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t WideInts __attribute__((vector_size(64)));
typedef uint32_t WideBits __attribute__((vector_size(64)));

inline Wide wide(const float* from) { return *reinterpret_cast<const LooseWide*>(from); }
inline void store(float* to, Wide what) { *reinterpret_cast<LooseWide*>(to) = what; }

// exp(x) to 1e-7 for x in [-87, 88]; below it is as at -87, 1e-38.
inline float exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    const float shifted = x * 1.44269504f + 12582912.0f;  // the sum rounds to a whole number
    const float whole = shifted - 12582912.0f;
    const float rest = (x - whole * 0.693359375f) - whole * -2.12194440e-4f;
    float y = 1.9875691500e-4f;
    y = y * rest + 1.3981999507e-3f;
    y = y * rest + 8.3334519073e-3f;
    y = y * rest + 4.1665795894e-2f;
    y = y * rest + 1.6666665459e-1f;
    y = y * rest + 5.0000001201e-1f;
    y = y * rest * rest + rest + 1.0f;
    uint32_t bits;
    std::memcpy(&bits, &shifted, 4);
    bits = (bits + 127) << 23;  // the whole number stands in the low bits
    float power;
    std::memcpy(&power, &bits, 4);
    return y * power;
}

// exp(x) for each lane, as `exponential`.
inline Wide exponential(Wide x) {
    x = x < -87.0f ? Wide{} - 87.0f : x;
    const Wide shifted = x * 1.44269504f + 12582912.0f;
    const Wide whole = shifted - 12582912.0f;
    const Wide rest = (x - whole * 0.693359375f) - whole * -2.12194440e-4f;
    Wide y = rest * 1.9875691500e-4f + 1.3981999507e-3f;
    y = y * rest + 8.3334519073e-3f;
    y = y * rest + 4.1665795894e-2f;
    y = y * rest + 1.6666665459e-1f;
    y = y * rest + 5.0000001201e-1f;
    y = y * rest * rest + rest + 1.0f;
    return y * reinterpret_cast<Wide>((reinterpret_cast<WideBits>(shifted) + 127) << 23);
}

inline void activate(float* x, int count, Activation activation) {
    if (activation == RELU) {
#pragma omp simd
        for (int i = 0; i < count; ++i) x[i] = x[i] > 0.0f ? x[i] : 0.0f;
    } else if (activation == SWISH) {
#pragma omp simd
        for (int i = 0; i < count; ++i) x[i] = x[i] / (1.0f + exponential(-x[i]));
    } else if (activation == GELU) {
        for (int i = 0; i < count; ++i) x[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678f));
    }
}

void quantize(const float* x, int rows, int width, uint8_t* bytes, float* scale) {
    const int padded = padded_to(width, GROUP);
    for (int row = 0; row < rows; ++row, x += width, bytes += padded) {
        float most = 0.0f;
#pragma omp simd reduction(max : most)
        for (int i = 0; i < width; ++i) most = std::fabs(x[i]) > most ? std::fabs(x[i]) : most;
        scale[row] = most / 127.0f;
        const float inverse = most > 0.0f ? 127.0f / most : 0.0f;
#pragma omp simd
        for (int i = 0; i < width; ++i) {
            const float shifted = x[i] * inverse + 12582912.0f;
            int32_t bits;
            std::memcpy(&bits, &shifted, 4);
            bytes[i] = static_cast<uint8_t>(bits + 128);
        }
        for (int i = width; i < padded; ++i) bytes[i] = 128;
    }
}

#if defined(__AVX512BF16__)
void halve(const float* x, int rows, int width, uint16_t* halves) {
    const int padded = padded_to(width, PAIR);
    for (int row = 0; row < rows; ++row, x += width, halves += padded) {
#pragma omp simd
        for (int i = 0; i < width; ++i) {
            uint32_t bits;
            std::memcpy(&bits, x + i, 4);
            halves[i] = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // to the nearest, or even
        }
        for (int i = width; i < padded; ++i) halves[i] = 0;
    }
}
#else
constexpr void (*halve)(const float*, int, int, uint16_t*) = nullptr;
#endif

// ---- products -------------------------------------------------------------------------------------------------

// Numbers of sums of bytes: they are taken to be around 128, which `offset` takes away.
inline void scaled(const int32_t* sum, const Matrix& matrix, int panel, float row_scale, float* value) {
    const float *scale = matrix.scale + panel * PANEL, *bias = matrix.bias + panel * PANEL;
    const int32_t* offset = matrix.offset + panel * PANEL;
#pragma omp simd
    for (int i = 0; i < PANEL; ++i)
        value[i] = static_cast<float>(sum[i] - offset[i]) * (row_scale * scale[i]) + bias[i];
}

// Values of R rows of bytes and one panel.
template <int R>
inline void integer_tile(const Matrix& matrix, const uint8_t* rows, const float* row_scale, int panel,
                         float (*value)[PANEL]) {
    const int stride = matrix.groups * GROUP;
    const int8_t* weight = matrix.bytes + static_cast<int64_t>(panel) * matrix.groups * GROUP * PANEL;
#if defined(__AVX512VNNI__)
    __m512i total[R][4];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) total[r][c] = _mm512_setzero_si512();
    for (int group = 0; group < matrix.groups; ++group, weight += GROUP * PANEL) {
        __m512i column[4];
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) column[c] = _mm512_loadu_si512(weight + 64 * c);
#pragma GCC unroll 6
        for (int r = 0; r < R; ++r) {
            int32_t four;
            std::memcpy(&four, rows + static_cast<int64_t>(r) * stride + GROUP * group, 4);
            const __m512i input = _mm512_set1_epi32(four);
#pragma GCC unroll 4
            for (int c = 0; c < 4; ++c) total[r][c] = _mm512_dpbusd_epi32(total[r][c], input, column[c]);
        }
    }
    alignas(64) int32_t sum[R][PANEL];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) _mm512_store_si512(sum[r] + 16 * c, total[r][c]);
    for (int r = 0; r < R; ++r) scaled(sum[r], matrix, panel, row_scale[r], value[r]);
#elif defined(__AVX2__)
    // Two products of 16 bits a sum of 32: exact, unlike the instruction that adds them in 16.
    for (int r = 0; r < R; ++r) {
        const int8_t* from = weight;
        __m256i total[16];
        for (int c = 0; c < 16; ++c) total[c] = _mm256_setzero_si256();
        for (int group = 0; group < matrix.groups; ++group, from += GROUP * PANEL) {
            int32_t four;
            std::memcpy(&four, rows + static_cast<int64_t>(r) * stride + GROUP * group, 4);
            const __m256i input = _mm256_cvtepu8_epi16(_mm_set1_epi32(four));
#pragma GCC unroll 16
            for (int c = 0; c < 16; ++c) {
                const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 * c));
                total[c] = _mm256_add_epi32(total[c], _mm256_madd_epi16(input, _mm256_cvtepi8_epi16(bytes)));
            }
        }
        int32_t sum[PANEL];
        for (int c = 0; c < 16; ++c) {
            int32_t pairs[8];
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(pairs), total[c]);
            for (int i = 0; i < 4; ++i) sum[4 * c + i] = pairs[2 * i] + pairs[2 * i + 1];
        }
        scaled(sum, matrix, panel, row_scale[r], value[r]);
    }
#else
    for (int r = 0; r < R; ++r) {
        const int8_t* from = weight;
        const uint8_t* row = rows + static_cast<int64_t>(r) * stride;
        int32_t sum[PANEL] = {};
        for (int group = 0; group < matrix.groups; ++group, from += GROUP * PANEL, row += GROUP)
            for (int i = 0; i < PANEL; ++i)
                for (int k = 0; k < GROUP; ++k) sum[i] += row[k] * from[GROUP * i + k];
        scaled(sum, matrix, panel, row_scale[r], value[r]);
    }
#endif
}

#if defined(__AVX512BF16__)
// Sums of R rows in bfloat16 and one panel.
template <int R>
inline void half_tile(const Matrix& matrix, const uint16_t* rows, int panel, float (*sum)[PANEL]) {
    const int stride = matrix.groups * PAIR;
    const uint16_t* weight = matrix.halves + static_cast<int64_t>(panel) * stride * PANEL;
    __m512 total[R][4];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) total[r][c] = _mm512_setzero_ps();
    for (int group = 0; group < matrix.groups; ++group, weight += PAIR * PANEL) {
        __m512i column[4];
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) column[c] = _mm512_loadu_si512(weight + 32 * c);
#pragma GCC unroll 6
        for (int r = 0; r < R; ++r) {
            int32_t two;
            std::memcpy(&two, rows + static_cast<int64_t>(r) * stride + PAIR * group, 4);
            const __m512bh input = (__m512bh)_mm512_set1_epi32(two);
#pragma GCC unroll 4
            for (int c = 0; c < 4; ++c) total[r][c] = _mm512_dpbf16_ps(total[r][c], input, (__m512bh)column[c]);
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) _mm512_storeu_ps(sum[r] + 16 * c, total[r][c]);
}
#endif

// Sums of R rows and one panel in float.
template <int R>
inline void float_tile(const Matrix& matrix, const float* rows, int panel, float (*sum)[PANEL]) {
    const float* weight = matrix.floats + static_cast<int64_t>(panel) * matrix.inputs * PANEL;
    for (int first = 0; first < PANEL; first += LANES * TILE_VECTORS) {
        Vector total[R][TILE_VECTORS];
#pragma GCC unroll 6
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
            for (int c = 0; c < TILE_VECTORS; ++c) total[r][c] = Vector{};
        const float* from = weight + first;
        for (int k = 0; k < matrix.inputs; ++k, from += PANEL) {
#pragma GCC unroll 6
            for (int r = 0; r < R; ++r) {
                const float input = rows[static_cast<int64_t>(r) * matrix.inputs + k];
#pragma GCC unroll 4
                for (int c = 0; c < TILE_VECTORS; ++c) total[r][c] += load(from + LANES * c) * input;
            }
        }
#pragma GCC unroll 6
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
            for (int c = 0; c < TILE_VECTORS; ++c) put(sum[r] + first + LANES * c, total[r][c]);
    }
}

// Values of R rows and one panel, bias included.
template <int R>
inline void tile(const Matrix& matrix, const Rows& in, int first, int panel, float (*value)[PANEL]) {
    if (matrix.bytes != nullptr) {
        integer_tile<R>(matrix, in.bytes + static_cast<int64_t>(first) * matrix.groups * GROUP, in.scale + first, panel,
                        value);
        return;
    }
#if defined(__AVX512BF16__)
    if (matrix.halves != nullptr)
        half_tile<R>(matrix, in.halves + static_cast<int64_t>(first) * matrix.groups * PAIR, panel, value);
    else
#endif
        float_tile<R>(matrix, in.values + static_cast<int64_t>(first) * matrix.inputs, panel, value);
    const float* bias = matrix.bias + panel * PANEL;
    for (int r = 0; r < R; ++r)
#pragma omp simd
        for (int i = 0; i < PANEL; ++i) value[r][i] += bias[i];
}

// Calls use(first row, number of rows, panel, values) for all tiles; a panel's weights stay in the cache.
template <class Use>
inline void all_tiles(const Matrix& matrix, const Rows& in, Use use) {
    alignas(64) float value[TILE_ROWS][PANEL];
    for (int panel = 0; panel < matrix.panels; ++panel) {
        int row = 0;
        for (; row + TILE_ROWS <= in.count; row += TILE_ROWS) {
            tile<TILE_ROWS>(matrix, in, row, panel, value);
            use(row, TILE_ROWS, panel, value);
        }
        const int rest = in.count - row;
        if (rest >= 4) {
            tile<4>(matrix, in, row, panel, value);
            use(row, 4, panel, value);
            row += 4;
        }
        if (in.count - row >= 2) {
            tile<2>(matrix, in, row, panel, value);
            use(row, 2, panel, value);
            row += 2;
        }
        if (in.count - row >= 1) {
            tile<1>(matrix, in, row, panel, value);
            use(row, 1, panel, value);
        }
    }
}

void multiply(const Matrix& matrix, const Rows& in, float* out, Activation activation) {
    all_tiles(matrix, in, [&](int first, int count, int panel, float (*value)[PANEL]) {
        const int begin = panel * PANEL;
        const int width = matrix.outputs - begin < PANEL ? matrix.outputs - begin : PANEL;
        for (int r = 0; r < count; ++r) {
            activate(value[r], PANEL, activation);
            std::memcpy(out + static_cast<int64_t>(first + r) * matrix.outputs + begin, value[r], 4 * width);
        }
    });
}

constexpr int MOST_TOKEN = 0x7fffffff;
constexpr int MOST_INSERTED = 16;  // more candidates are kept as a heap, the worst first

// Of equal values the lower token is the better one.
inline bool is_better(float value, int token, float other_value, int other_token) {
    return value > other_value || (value == other_value && token < other_token);
}

// Lets a candidate sink to its place in a heap of `count`, from the place of one that has left.
inline void sink(Best& best, int count, int place, float value, int token) {
    for (int child = 2 * place + 1; child < count; child = 2 * place + 1) {
        if (child + 1 < count &&
            is_better(best.value[child], best.token[child], best.value[child + 1], best.token[child + 1]))
            ++child;  // the worse of the two
        if (!is_better(value, token, best.value[child], best.token[child])) break;
        best.value[place] = best.value[child];
        best.token[place] = best.token[child];
        place = child;
    }
    best.value[place] = value;
    best.token[place] = token;
}

// Puts a value that is above the worst in its place; tokens come in their order, so an equal one stays behind.
inline void insert(Best& best, int count, float value, int token) {
    if (count > MOST_INSERTED) {
        sink(best, count, 0, value, token);
        best.worst = best.value[0];
        return;
    }
    int place = count - 1;
    for (; place > 0 && best.value[place - 1] < value; --place) {
        best.value[place] = best.value[place - 1];
        best.token[place] = best.token[place - 1];
    }
    best.value[place] = value;
    best.token[place] = token;
    best.worst = best.value[count - 1];
}

// Turns a heap into an order, best first.
inline void sort_heap(Best& best, int count) {
    for (int last = count - 1; last > 0; --last) {
        const float value = best.value[last];
        const int token = best.token[last];
        best.value[last] = best.value[0];
        best.token[last] = best.token[0];
        sink(best, last, 0, value, token);
    }
}

// Whether any of a panel's values is above a bound.
inline bool any_above(const float* value, float bound) {
#if defined(__AVX512F__)
    const __m512 limit = _mm512_set1_ps(bound);
    int found = 0;
#pragma GCC unroll 4
    for (int c = 0; c < PANEL; c += 16) found |= _mm512_cmp_ps_mask(wide(value + c), limit, _CMP_GT_OQ);
    return found != 0;
#else
    int found = 0;
#pragma omp simd reduction(| : found)
    for (int i = 0; i < PANEL; ++i) found |= value[i] > bound;
    return found != 0;
#endif
}

void best(const Matrix& matrix, const Rows& in, const float* hidden, int count, Best* found) {
    for (int row = 0; row < in.count; ++row) {
        Best& one = found[row];
        for (int i = 0; i < count; ++i) {
            one.value[i] = -INFINITY;
            one.token[i] = MOST_TOKEN - i;  // so that every place is worse than the one before
        }
        one.worst = -INFINITY;
        one.most = -FLT_MAX;  // finite, so that a panel whose numbers are all -INFINITY adds nothing
        for (float& sum : one.sums) sum = 0.0f;
    }
    all_tiles(matrix, in, [&](int first, int rows, int panel, float (*value)[PANEL]) {
        const float* hide = hidden + panel * PANEL;
        for (int r = 0; r < rows; ++r) {
            Best& one = found[first + r];
            const float* x = value[r];
            // No candidate is above the greatest value, so that one changes only where a candidate may.
            if (any_above(x, one.worst)) {
                float most = one.most;
                for (int i = 0; i < PANEL; ++i) {
                    most = x[i] > most ? x[i] : most;
                    if (x[i] + hide[i] > one.worst) insert(one, count, x[i] + hide[i], panel * PANEL + i);
                }
                if (most > one.most) {
                    store(one.sums, wide(one.sums) * exponential(one.most - most));
                    one.most = most;
                }
            }
            Wide sum = wide(one.sums);
#pragma GCC unroll 4
            for (int c = 0; c < PANEL; c += 16) sum += exponential(wide(x + c) - one.most);
            store(one.sums, sum);
        }
    });
    for (int row = 0; row < in.count; ++row) {
        Best& one = found[row];
        one.sum = 0.0f;
        for (const float sum : one.sums) one.sum += sum;
        if (count > MOST_INSERTED) sort_heap(one, count);
    }
}

void log_softmax(float* x, int rows, int width) {
    for (int row = 0; row < rows; ++row, x += width) {
        float most = -INFINITY;
#pragma omp simd reduction(max : most)
        for (int i = 0; i < width; ++i) most = x[i] > most ? x[i] : most;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < width; ++i) sum += exponential(x[i] - most);
        const float all = most + std::log(sum);
#pragma omp simd
        for (int i = 0; i < width; ++i) x[i] -= all;
    }
}

// ---- norms and attention --------------------------------------------------------------------------------------

inline void norm_row(const float* x, const float* gain, const float* bias, float epsilon, int width, float* out) {
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < width; ++i) sum += x[i];
    const float mean = sum / static_cast<float>(width);
    float square = 0.0f;
#pragma omp simd reduction(+ : square)
    for (int i = 0; i < width; ++i) square += (x[i] - mean) * (x[i] - mean);
    const float factor = 1.0f / std::sqrt(square / static_cast<float>(width) + epsilon);
#pragma omp simd
    for (int i = 0; i < width; ++i) out[i] = (x[i] - mean) * factor * gain[i] + bias[i];
}

void norm(const float* x, const float* gain, const float* bias, float epsilon, int rows, int width, float* out) {
    for (int row = 0; row < rows; ++row) {
        const int64_t place = static_cast<int64_t>(row) * width;
        norm_row(x + place, gain, bias, epsilon, width, out + place);
    }
}

void add_norm(float* x, const float* y, const float* gain, const float* bias, float epsilon, int rows, int width) {
    for (int row = 0; row < rows; ++row, x += width, y += width) {
#pragma omp simd
        for (int i = 0; i < width; ++i) x[i] += y[i];
        if (gain != nullptr) norm_row(x, gain, bias, epsilon, width, x);
    }
}

template <int... PLACES>
inline Wide shuffled(Wide x) {
#if defined(__clang__)
    return __builtin_shufflevector(x, x, PLACES...);
#else
    return __builtin_shuffle(x, WideInts{PLACES...});
#endif
}

// Adds up the lanes of each head; all of them have the sum then.
inline Wide folded(Wide x, int lanes) {
    if (lanes <= 8) x += shuffled<8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7>(x);
    if (lanes <= 4) x += shuffled<4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11>(x);
    if (lanes <= 2) x += shuffled<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(x);
    if (lanes <= 1) x += shuffled<1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14>(x);
    return x;
}

// One query over positions that `key_at` and `value_at` find, for one group of heads.
template <class At>
inline void attend_group(const float* query, At key_at, At value_at, int length, const Heads& heads, float* scratch,
                         float* out) {
    Wide most = Wide{} - INFINITY;
    int position = 0;
    for (; position + 4 <= length; position += 4) {
        const float* key[4] = {key_at(position), key_at(position + 1), key_at(position + 2), key_at(position + 3)};
        Wide sum[4] = {};
        for (int i = 0; i < 16 * heads.keys; i += 16) {
            const Wide q = wide(query + i);
#pragma GCC unroll 4
            for (int p = 0; p < 4; ++p) sum[p] += q * wide(key[p] + i);
        }
#pragma GCC unroll 4
        for (int p = 0; p < 4; ++p) {
            const Wide score = folded(sum[p], heads.lanes);
            most = score > most ? score : most;
            store(scratch + 16 * (position + p), score);
        }
    }
    for (; position < length; ++position) {
        const float* key = key_at(position);
        Wide sum = {};
        for (int i = 0; i < 16 * heads.keys; i += 16) sum += wide(query + i) * wide(key + i);
        const Wide score = folded(sum, heads.lanes);
        most = score > most ? score : most;
        store(scratch + 16 * position, score);
    }
    Wide total = {};
    for (position = 0; position < length; ++position) {
        const Wide weight = exponential(wide(scratch + 16 * position) - most);
        total += weight;
        store(scratch + 16 * position, weight);
    }
    const Wide factor = 1.0f / total;
    int i = 0;
    for (; i + 64 <= 16 * heads.values; i += 64) {
        Wide mixed[4] = {};
        for (position = 0; position < length; ++position) {
            const Wide weight = wide(scratch + 16 * position);
            const float* value = value_at(position) + i;
#pragma GCC unroll 4
            for (int k = 0; k < 4; ++k) mixed[k] += weight * wide(value + 16 * k);
        }
        for (int k = 0; k < 4; ++k) store(out + i + 16 * k, mixed[k] * factor);
    }
    for (; i < 16 * heads.values; i += 16) {
        Wide mixed = {};
        for (position = 0; position < length; ++position)
            mixed += wide(scratch + 16 * position) * wide(value_at(position) + i);
        store(out + i, mixed * factor);
    }
}

// Finds the numbers of a position in a node that may lie anywhere.
struct InNodes {
    const float* const* nodes;
    int place;
    const float* operator()(int position) const { return nodes[position] + place; }
};

// Finds them in an array.
struct InArray {
    const float* first;
    int stride;
    const float* operator()(int position) const { return first + static_cast<int64_t>(position) * stride; }
};

void attend(const float* query, const float* const* nodes, int key_place, int value_place, int length,
            const Heads& heads, float* scratch, float* out) {
    for (int group = 0; group < heads.groups; ++group) {
        const int key = 16 * group * heads.keys, value = 16 * group * heads.values;
        attend_group(query + key, InNodes{nodes, key_place + key}, InNodes{nodes, value_place + value}, length, heads,
                     scratch, out + value);
    }
}

void attend_all(const float* query, int rows, int query_stride, const float* keys, const float* values, int stride,
                int length, const Heads& heads, float* scratch, float* out) {
    for (int row = 0; row < rows; ++row, query += query_stride, out += heads.value_size())
        for (int group = 0; group < heads.groups; ++group) {
            const int key = 16 * group * heads.keys, value = 16 * group * heads.values;
            attend_group(query + key, InArray{keys + key, stride}, InArray{values + value, stride}, length, heads,
                         scratch, out + value);
        }
}

}  // namespace

#define NAME_(isa) kernels_##isa
#define NAME(isa) NAME_(isa)
#define TEXT_(isa) #isa
#define TEXT(isa) TEXT_(isa)
extern const Kernels NAME(ISA);
const Kernels NAME(ISA) = {TEXT(ISA), quantize, halve, multiply, best, log_softmax, add_norm, norm, attend, attend_all};

}  // namespace dragoman
