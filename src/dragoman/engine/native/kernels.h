// The inner loops. They are compiled once for each instruction set, and one table of them is chosen at run time.
//
// Every number of a row is computed by the same operations in the same order, whatever other rows are computed
// with it. So what is found for a sentence does not depend on its neighbours, not even in the last bit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dragoman {

constexpr int PANEL = 64;    // outputs whose weights lie side by side
constexpr int GROUP = 4;     // inputs whose 8-bit weights lie side by side
constexpr int PAIR = 2;      // inputs whose 16-bit weights lie side by side

enum Activation { NONE = 0, RELU = 1, GELU = 2, SWISH = 3 };

// Weights of out = in · Wᵀ + bias, as panels of 64 outputs; missing outputs have weight 0.
struct Matrix {
    int inputs = 0, outputs = 0, panels = 0, groups = 0;  // groups: of inputs, the last filled up with zeros
    const float* floats = nullptr;    // panel, input, output
    const uint16_t* halves = nullptr;  // or bfloat16: panel, pair, output, input
    const int8_t* bytes = nullptr;    // or bytes: panel, group, output, input
    const float* scale = nullptr;     // bytes: of each output
    const int32_t* offset = nullptr;  // bytes: 128 times the sum of the weights of each output
    const float* bias = nullptr;     // of each output; -inf where there is none
};

// Rows of activations, as numbers and as the matrix takes them: rounded to bfloat16, or to bytes around 128.
struct Rows {
    const float* values;
    const uint16_t* halves;
    const uint8_t* bytes;
    const float* scale;  // of each row's bytes
    int count;

    Rows part(int first, int number, int width) const;  // some of the rows, each of this width
};

// The best outputs of a row so far, best first, and what is needed for the softmax.
struct Best {
    float* value;
    int* token;
    float worst;      // the last value; nothing below it is kept
    float most, sum;  // Σ exp(value - most)
    float sums[16];   // the same while it is summed
};

// How the numbers of all heads lie: in vectors of 16, each lane of which belongs to one head. Lane l of a vector is
// head l modulo `lanes`; so a sum over vectors, folded, is a sum over the width of every head at once.
struct Heads {
    int lanes;          // 1, 2, 4, 8 or 16
    int groups;         // vectors of 16 heads; more than 1 only with 16 lanes
    int keys, values;   // vectors of one group

    int key_size() const { return 16 * groups * keys; }
    int value_size() const { return 16 * groups * values; }
};

struct Kernels {
    const char* name;
    // Rounds each row to bytes around 128; a row of bytes is filled up to a multiple of GROUP.
    void (*quantize)(const float* x, int rows, int width, uint8_t* bytes, float* scale);
    // Rounds each row to bfloat16, filled up to a multiple of PAIR; null where the processor has no products of them.
    void (*halve)(const float* x, int rows, int width, uint16_t* halves);
    // out = activation(in · Wᵀ + bias); out has `outputs` columns.
    void (*multiply)(const Matrix& matrix, const Rows& in, float* out, Activation activation);
    // The same, of which only the `count` best of each row and the sum of all are kept. Where `hidden` has
    // -inf an output counts in the sum but is no candidate.
    void (*best)(const Matrix& matrix, const Rows& in, const float* hidden, int count, Best* best);
    // Logits to log-probabilities, row by row.
    void (*log_softmax)(float* x, int rows, int width);
    // x = norm(x + y), or x = x + y without gain.
    void (*add_norm)(float* x, const float* y, const float* gain, const float* bias, float epsilon, int rows,
                     int width);
    // out = norm(x)
    void (*norm)(const float* x, const float* gain, const float* bias, float epsilon, int rows, int width,
                 float* out);
    // One query over `length` nodes that lie anywhere: keys and values at fixed places of each node. The scratch has
    // 16 numbers for each position.
    void (*attend)(const float* query, const float* const* nodes, int key_place, int value_place, int length,
                   const Heads& heads, float* scratch, float* out);
    // Queries over positions that lie one after the other.
    void (*attend_all)(const float* query, int rows, int query_stride, const float* keys, const float* values,
                       int stride, int length, const Heads& heads, float* scratch, float* out);
};

const Kernels& kernels();  // the best table for this processor
int use_kernels(const char* name);  // chooses another one by name; 0 if this processor can run it

void best_of_row(const float* log_probability, int width, int count, Best& best);  // of what is a softmax already

inline int padded_to(int number, int unit) { return (number + unit - 1) / unit * unit; }

inline Rows Rows::part(int first, int number, int width) const {
    const auto place = [first](int row_width) { return static_cast<size_t>(first) * row_width; };
    return {values + place(width), halves == nullptr ? nullptr : halves + place(padded_to(width, PAIR)),
            bytes == nullptr ? nullptr : bytes + place(padded_to(width, GROUP)),
            scale == nullptr ? nullptr : scale + first, number};
}

}  // namespace dragoman
