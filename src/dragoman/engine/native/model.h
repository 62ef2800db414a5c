// The Transformer (Vaswani et al., 2017, §3): weights, encoder, and one step of the decoder for many hypotheses.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "kernels.h"

namespace dragoman {

// An array that begins at a cache line; its content is not kept when it grows.
template <class T>
class Buffer {
  public:
    T* sized(size_t count) {
        if (count > capacity_) {
            void* memory = std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64);
            if (memory == nullptr) throw std::bad_alloc();
            memory_.reset(static_cast<T*>(memory));
            capacity_ = count;
        }
        return memory_.get();
    }
    T* data() const { return memory_.get(); }

  private:
    struct Free {
        void operator()(T* memory) const { std::free(memory); }
    };
    std::unique_ptr<T, Free> memory_;
    size_t capacity_ = 0;
};

// The weights of a matrix, packed, and who owns them.
class PackedMatrix {
  public:
    // Weights (outputs × inputs) in float, in bfloat16, or as bytes with a scale for each output; a bias may be missing.
    enum Kind { FLOATS = 0, HALVES = 1, BYTES = 2 };
    PackedMatrix(Kind kind, const void* weights, const float* scale, const float* bias, int outputs, int inputs);
    PackedMatrix(const PackedMatrix& from, const std::vector<int>& outputs);  // some outputs, of what keeps rows
    void keep_rows();  // keeps each output's numbers together as well
    void row(int output, float factor, float* to) const;  // to = factor · row of W
    Matrix matrix;

  private:
    void pack_floats(const float* from);
    void pack_halves(const uint16_t* from);
    void pack_bytes(const int8_t* from, const float* scale);
    Buffer<int8_t> bytes_;
    Buffer<uint16_t> halves_;
    Buffer<float> floats_, scale_, bias_;
    Buffer<int32_t> offset_;
    std::vector<char> rows_;
};

struct Settings {
    int d_model, d_ff, num_encoder_layers, num_decoder_layers, vocabulary, source_vocabulary, pre_norm, activation;
    Heads heads;
    float epsilon;
};

// Which outputs may come of a source: those of each of its tokens, and those that always may.
struct Shortlist {
    std::vector<int> starts, targets;  // targets[starts[t]] to targets[starts[t + 1] - 1] are those of token t
    std::vector<int> always;
};

struct Norm {
    const float *gain, *bias;
};

struct EncoderLayer {
    const PackedMatrix *attention, *output, *inner, *outer;
    Norm attention_norm, feed_forward_norm;
};

struct DecoderLayer {
    const PackedMatrix *attention, *output, *query, *memory, *cross_output, *inner, *outer;
    Norm self_norm, cross_norm, feed_forward_norm;
};

class Model {
  public:
    explicit Model(const Settings& settings) : settings(settings) {}
    void add_matrix(const std::string& name, std::unique_ptr<PackedMatrix> matrix);
    void add_vector(const std::string& name, const float* values, int count);
    void add_shortlist(Shortlist shortlist);
    // What may come of a source: what the shortlist has, and its own pieces, as names are copied; in ascending order.
    std::vector<int> candidates(const int* tokens, int length) const;
    void connect();  // finds all that it needs; throws std::invalid_argument if a part is missing or misshapen

    const Settings settings;
    std::vector<EncoderLayer> encoder;
    std::vector<DecoderLayer> decoder;
    Norm encoder_norm{}, decoder_norm{};
    const PackedMatrix *source_embedding = nullptr, *embedding = nullptr, *projection = nullptr;
    const float* hidden = nullptr;  // -inf at outputs that are no candidates
    Shortlist shortlist;            // empty where there is none

    int keys() const { return settings.heads.key_size(); }
    int values() const { return settings.heads.value_size(); }
    int node_size() const { return settings.num_decoder_layers * (keys() + values()); }

  private:
    const PackedMatrix* need(const std::string& name, int outputs, int inputs) const;
    const float* need_vector(const std::string& name, int count) const;
    Norm need_norm(const std::string& name) const;
    std::map<std::string, std::unique_ptr<PackedMatrix>> matrices_;
    std::map<std::string, std::vector<float>> vectors_;
};

// What the decoder keeps of one source: of each layer keys and values of each position.
struct MemoryOfSource {
    int length = 0;
    std::vector<float> numbers;
};

// Vectors of positions, d_model numbers each; those of sources may be learned apart.
struct Positions {
    const float *source, *target;
    int count;
};

struct Source {
    const int* tokens;
    int length;
    MemoryOfSource* memory;
};

// A hypothesis that reads one more token.
struct Row {
    const MemoryOfSource* memory;
    int token, position;
    float* node;                 // takes the keys and values of the token
    const float* const* path;    // the nodes of all positions, that of the token last
};

// The computations of one thread.
class Worker {
  public:
    Worker(const Model& model, const Positions& positions) : model_(model), positions_(positions) {}
    void encode(const std::vector<Source>& sources);
    // Rows of one source stand side by side. What follows is left in `output()`, d_model numbers a row.
    void step(const std::vector<Row>& rows);
    Rows output();

  private:
    Rows rounded(const PackedMatrix& matrix, const float* x, int rows, int width);
    void embed(const PackedMatrix& embedding, int token, int padding, const float* position, float* to) const;
    void residual(float* x, int rows, Norm norm);
    const float* before(const float* x, int rows, Norm norm);
    void feed_forward(float* x, int rows, const PackedMatrix& inner, const PackedMatrix& outer, Norm norm);

    const Model& model_;
    const Positions& positions_;
    int rows_ = 0;
    Buffer<float> x_, normed_, projected_, mixed_, inner_, y_, scratch_, scale_;
    Buffer<uint8_t> bytes_;
    Buffer<uint16_t> halves_;
};

}  // namespace dragoman
