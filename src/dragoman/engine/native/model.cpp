#include "model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace dragoman {

PackedMatrix::PackedMatrix(Kind kind, const void* weights, const float* scale, const float* bias, int outputs,
                           int inputs) {
    matrix.inputs = inputs;
    matrix.outputs = outputs;
    matrix.panels = (outputs + PANEL - 1) / PANEL;
    const int unit = kind == BYTES ? GROUP : kind == HALVES ? PAIR : 1;
    matrix.groups = (inputs + unit - 1) / unit;
    const int padded = matrix.panels * PANEL;
    float* biases = bias_.sized(padded);
    for (int i = 0; i < padded; ++i) biases[i] = i >= outputs ? -INFINITY : bias == nullptr ? 0.0f : bias[i];
    matrix.bias = biases;
    if (kind == BYTES)
        pack_bytes(static_cast<const int8_t*>(weights), scale);
    else if (kind == HALVES)
        pack_halves(static_cast<const uint16_t*>(weights));
    else
        pack_floats(static_cast<const float*>(weights));
}

// Lays weights as panels of groups of `unit` inputs.
template <class T>
static T* laid(const T* from, const Matrix& m, int unit, Buffer<T>& buffer) {
    const size_t width = static_cast<size_t>(m.groups) * unit;
    T* to = buffer.sized(m.panels * PANEL * width);
    std::fill_n(to, m.panels * PANEL * width, T());
    for (int i = 0; i < m.outputs; ++i) {
        T* panel = to + i / PANEL * width * PANEL + i % PANEL * unit;
        for (int k = 0; k < m.inputs; ++k)
            panel[static_cast<size_t>(k / unit) * unit * PANEL + k % unit] = from[static_cast<size_t>(i) * m.inputs + k];
    }
    return to;
}

// The place of an output's first number.
static size_t place_of(const Matrix& m, int unit, int output) {
    return static_cast<size_t>(output / PANEL) * m.groups * unit * PANEL + output % PANEL * unit;
}

static int unit_of(const Matrix& m) { return m.bytes != nullptr ? GROUP : m.halves != nullptr ? PAIR : 1; }

// The packed numbers of any kind. A group of one output is four bytes: four bytes, two halves, or one float.
static const char* numbers_of(const Matrix& m) {
    if (m.bytes != nullptr) return reinterpret_cast<const char*>(m.bytes);
    if (m.halves != nullptr) return reinterpret_cast<const char*>(m.halves);
    return reinterpret_cast<const char*>(m.floats);
}

constexpr size_t GROUP_BYTES = 4, STRIDE = PANEL * GROUP_BYTES;
static_assert(GROUP * sizeof(int8_t) == GROUP_BYTES && PAIR * sizeof(uint16_t) == GROUP_BYTES &&
              sizeof(float) == GROUP_BYTES, "a group of one output is four bytes");

void PackedMatrix::keep_rows() {
    const size_t width = matrix.groups * GROUP_BYTES;
    rows_.resize(matrix.panels * PANEL * width);
    for (int i = 0; i < matrix.panels * PANEL; ++i) {
        const char* from = numbers_of(matrix) + i / PANEL * width * PANEL + i % PANEL * GROUP_BYTES;
        char* to = rows_.data() + i * width;
        for (int group = 0; group < matrix.groups; ++group)
            std::memcpy(to + group * GROUP_BYTES, from + group * STRIDE, GROUP_BYTES);
    }
}

PackedMatrix::PackedMatrix(const PackedMatrix& from, const std::vector<int>& outputs) {
    const Matrix& m = from.matrix;
    matrix.inputs = m.inputs;
    matrix.groups = m.groups;
    matrix.outputs = static_cast<int>(outputs.size());
    matrix.panels = (matrix.outputs + PANEL - 1) / PANEL;
    const int padded = matrix.panels * PANEL;
    const size_t width = m.groups * GROUP_BYTES;
    int8_t* numbers = bytes_.sized(padded * width);
    std::memset(numbers, 0, padded * width);
    float* biases = bias_.sized(padded);
    float* scales = scale_.sized(padded);
    int32_t* offsets = offset_.sized(padded);
    std::fill_n(biases, padded, -INFINITY);
    std::fill_n(scales, padded, 0.0f);
    std::fill_n(offsets, padded, 0);
    for (int i = 0; i < matrix.outputs; ++i) {
        const int output = outputs[i];
        biases[i] = m.bias[output];
        if (m.bytes != nullptr) scales[i] = m.scale[output], offsets[i] = m.offset[output];
        const char* row = from.rows_.data() + output * width;
        int8_t* to = numbers + i / PANEL * width * PANEL + i % PANEL * GROUP_BYTES;
        for (int group = 0; group < m.groups; ++group)
            std::memcpy(to + group * STRIDE, row + group * GROUP_BYTES, GROUP_BYTES);
    }
    matrix.bias = biases;
    matrix.scale = scales;
    matrix.offset = offsets;
    if (m.bytes != nullptr)
        matrix.bytes = numbers;
    else if (m.halves != nullptr)
        matrix.halves = reinterpret_cast<const uint16_t*>(numbers);
    else
        matrix.floats = reinterpret_cast<const float*>(numbers);
}

void PackedMatrix::pack_floats(const float* from) { matrix.floats = laid(from, matrix, 1, floats_); }

void PackedMatrix::pack_halves(const uint16_t* from) { matrix.halves = laid(from, matrix, PAIR, halves_); }

void PackedMatrix::pack_bytes(const int8_t* from, const float* scale) {
    const int padded = matrix.panels * PANEL;
    float* scales = scale_.sized(padded);
    int32_t* offsets = offset_.sized(padded);
    std::fill_n(scales, padded, 0.0f);
    std::fill_n(offsets, padded, 0);
    std::copy_n(scale, matrix.outputs, scales);
    for (int i = 0; i < matrix.outputs; ++i)
        for (int k = 0; k < matrix.inputs; ++k) offsets[i] += 128 * from[static_cast<size_t>(i) * matrix.inputs + k];
    matrix.bytes = laid(from, matrix, GROUP, bytes_);
    matrix.scale = scales;
    matrix.offset = offsets;
}

void PackedMatrix::row(int output, float factor, float* to) const {
    const Matrix& m = matrix;
    const int unit = unit_of(m);
    const size_t first = place_of(m, unit, output);
    if (m.bytes != nullptr) factor *= m.scale[output];
    for (int k = 0; k < m.inputs; ++k) {
        const size_t place = first + static_cast<size_t>(k / unit) * unit * PANEL + k % unit;
        float weight = 0.0f;
        if (m.bytes != nullptr) {
            weight = static_cast<float>(m.bytes[place]);
        } else if (m.halves != nullptr) {
            const uint32_t bits = static_cast<uint32_t>(m.halves[place]) << 16;
            std::memcpy(&weight, &bits, 4);
        } else {
            weight = m.floats[place];
        }
        to[k] = factor * weight;
    }
}

// ---- the parts of a model -------------------------------------------------------------------------------------

void Model::add_matrix(const std::string& name, std::unique_ptr<PackedMatrix> matrix) {
    matrices_[name] = std::move(matrix);
}

void Model::add_vector(const std::string& name, const float* values, int count) {
    vectors_[name].assign(values, values + count);
}

void Model::add_shortlist(Shortlist added) {
    const auto outside = [this](int token) { return token < 0 || token >= settings.vocabulary; };
    if (static_cast<int>(added.starts.size()) != settings.source_vocabulary + 1 || added.starts.front() != 0 ||
        added.starts.back() != static_cast<int>(added.targets.size()) ||
        !std::is_sorted(added.starts.begin(), added.starts.end()))
        throw std::invalid_argument("the shortlist is not one of this vocabulary");
    if (std::any_of(added.targets.begin(), added.targets.end(), outside) ||
        std::any_of(added.always.begin(), added.always.end(), outside))
        throw std::invalid_argument("a token of the shortlist is not in the vocabulary");
    shortlist = std::move(added);
    matrices_.at("projection")->keep_rows();
}

std::vector<int> Model::candidates(const int* tokens, int length) const {
    const std::vector<int>&starts = shortlist.starts, &targets = shortlist.targets;
    std::vector<int> found = shortlist.always;
    if (settings.source_vocabulary == settings.vocabulary) found.insert(found.end(), tokens, tokens + length);
    for (int i = 0; i < length; ++i)
        found.insert(found.end(), targets.begin() + starts[tokens[i]], targets.begin() + starts[tokens[i] + 1]);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

const PackedMatrix* Model::need(const std::string& name, int outputs, int inputs) const {
    const auto found = matrices_.find(name);
    if (found == matrices_.end()) throw std::invalid_argument(name + " is missing");
    const Matrix& matrix = found->second->matrix;
    if (matrix.outputs != outputs || matrix.inputs != inputs) throw std::invalid_argument(name + " has another shape");
    return found->second.get();
}

const float* Model::need_vector(const std::string& name, int count) const {
    const auto found = vectors_.find(name);
    if (found == vectors_.end()) throw std::invalid_argument(name + " is missing");
    if (static_cast<int>(found->second.size()) != count) throw std::invalid_argument(name + " has another length");
    return found->second.data();
}

Norm Model::need_norm(const std::string& name) const {
    return {need_vector(name + ".gain", settings.d_model), need_vector(name + ".bias", settings.d_model)};
}

void Model::connect() {
    const int d = settings.d_model, f = settings.d_ff, k = keys(), v = values();
    for (int i = 0; i < settings.num_encoder_layers; ++i) {
        const std::string layer = "encoder." + std::to_string(i) + ".";
        encoder.push_back({need(layer + "attention", 2 * k + v, d), need(layer + "output", d, v),
                           need(layer + "inner", f, d), need(layer + "outer", d, f), need_norm(layer + "attention_norm"),
                           need_norm(layer + "feed_forward_norm")});
    }
    for (int i = 0; i < settings.num_decoder_layers; ++i) {
        const std::string layer = "decoder." + std::to_string(i) + ".";
        decoder.push_back({need(layer + "attention", 2 * k + v, d), need(layer + "output", d, v),
                           need(layer + "query", k, d), need(layer + "memory", k + v, d),
                           need(layer + "cross_output", d, v), need(layer + "inner", f, d), need(layer + "outer", d, f),
                           need_norm(layer + "self_norm"), need_norm(layer + "cross_norm"),
                           need_norm(layer + "feed_forward_norm")});
    }
    if (settings.pre_norm) {
        encoder_norm = need_norm("encoder_norm");
        decoder_norm = need_norm("decoder_norm");
    }
    projection = need("projection", settings.vocabulary, d);
    embedding = matrices_.count("embedding") ? need("embedding", settings.vocabulary, d) : projection;
    source_embedding =
        matrices_.count("source_embedding") ? need("source_embedding", settings.source_vocabulary, d) : embedding;
    hidden = need_vector("hidden", projection->matrix.panels * PANEL);
}

// ---- computing ------------------------------------------------------------------------------------------------

Rows Worker::rounded(const PackedMatrix& packed, const float* x, int rows, int width) {
    Rows in{x, nullptr, nullptr, nullptr, rows};
    if (packed.matrix.bytes != nullptr) {
        uint8_t* bytes = bytes_.sized(static_cast<size_t>(rows) * padded_to(width, GROUP));
        float* scale = scale_.sized(rows);
        kernels().quantize(x, rows, width, bytes, scale);
        in.bytes = bytes;
        in.scale = scale;
    } else if (packed.matrix.halves != nullptr) {
        uint16_t* halves = halves_.sized(static_cast<size_t>(rows) * padded_to(width, PAIR));
        kernels().halve(x, rows, width, halves);
        in.halves = halves;
    }
    return in;
}

void Worker::embed(const PackedMatrix& embedding, int token, int padding, const float* position, float* to) const {
    const int d = model_.settings.d_model;
    if (token == padding) {
        std::fill_n(to, d, 0.0f);
    } else {
        embedding.row(token, std::sqrt(static_cast<float>(d)), to);
    }
    for (int i = 0; i < d; ++i) to[i] += position[i];
}

const float* Worker::before(const float* x, int rows, Norm norm) {
    if (!model_.settings.pre_norm) return x;
    float* normed = normed_.sized(static_cast<size_t>(rows) * model_.settings.d_model);
    kernels().norm(x, norm.gain, norm.bias, model_.settings.epsilon, rows, model_.settings.d_model, normed);
    return normed;
}

void Worker::residual(float* x, int rows, Norm norm) {
    const bool post = !model_.settings.pre_norm;
    kernels().add_norm(x, y_.data(), post ? norm.gain : nullptr, norm.bias, model_.settings.epsilon, rows,
                       model_.settings.d_model);
}

void Worker::feed_forward(float* x, int rows, const PackedMatrix& inner, const PackedMatrix& outer, Norm norm) {
    const Settings& s = model_.settings;
    float* middle = inner_.sized(static_cast<size_t>(rows) * s.d_ff);
    float* y = y_.sized(static_cast<size_t>(rows) * s.d_model);
    kernels().multiply(inner.matrix, rounded(inner, before(x, rows, norm), rows, s.d_model), middle,
                       static_cast<Activation>(s.activation));
    kernels().multiply(outer.matrix, rounded(outer, middle, rows, s.d_ff), y, NONE);
    residual(x, rows, norm);
}

void Worker::encode(const std::vector<Source>& sources) {
    const Settings& s = model_.settings;
    const int keys = model_.keys(), values = model_.values(), width = 2 * keys + values;
    int rows = 0, longest = 0;
    for (const Source& source : sources) {
        rows += source.length;
        longest = std::max(longest, source.length);
    }
    float* x = x_.sized(static_cast<size_t>(rows) * s.d_model);
    float* to = x;
    for (const Source& source : sources)
        for (int i = 0; i < source.length; ++i, to += s.d_model)
            embed(*model_.source_embedding, source.tokens[i], s.source_vocabulary - 1,
                  positions_.source + static_cast<size_t>(i) * s.d_model, to);
    float* projected = projected_.sized(static_cast<size_t>(rows) * width);
    float* mixed = mixed_.sized(static_cast<size_t>(rows) * values);
    float* scratch = scratch_.sized(16 * static_cast<size_t>(longest));
    for (const EncoderLayer& layer : model_.encoder) {
        kernels().multiply(layer.attention->matrix,
                           rounded(*layer.attention, before(x, rows, layer.attention_norm), rows, s.d_model), projected,
                           NONE);
        int first = 0;
        for (const Source& source : sources) {
            const float* from = projected + static_cast<size_t>(first) * width;
            kernels().attend_all(from, source.length, width, from + keys, from + 2 * keys, width, source.length,
                                 s.heads, scratch, mixed + static_cast<size_t>(first) * values);
            first += source.length;
        }
        kernels().multiply(layer.output->matrix, rounded(*layer.output, mixed, rows, values),
                           y_.sized(static_cast<size_t>(rows) * s.d_model), NONE);
        residual(x, rows, layer.attention_norm);
        feed_forward(x, rows, *layer.inner, *layer.outer, layer.feed_forward_norm);
    }
    const float* memory = before(x, rows, model_.encoder_norm);
    const Rows in = rounded(*model_.decoder.front().memory, memory, rows, s.d_model);
    for (int i = 0; i < s.num_decoder_layers; ++i) {
        kernels().multiply(model_.decoder[i].memory->matrix, in, projected, NONE);
        const float* from = projected;
        for (const Source& source : sources) {
            const size_t size = static_cast<size_t>(source.length) * (keys + values);
            source.memory->length = source.length;
            source.memory->numbers.resize(size * s.num_decoder_layers);
            std::memcpy(source.memory->numbers.data() + size * i, from, 4 * size);
            from += size;
        }
    }
}

void Worker::step(const std::vector<Row>& rows) {
    const Settings& s = model_.settings;
    const int count = static_cast<int>(rows.size()), keys = model_.keys(), values = model_.values();
    const int width = 2 * keys + values;
    rows_ = count;
    int longest = 0;
    float* x = x_.sized(static_cast<size_t>(count) * s.d_model);
    for (int i = 0; i < count; ++i) {
        embed(*model_.embedding, rows[i].token, s.vocabulary - 1,
              positions_.target + static_cast<size_t>(rows[i].position) * s.d_model,
              x + static_cast<size_t>(i) * s.d_model);
        longest = std::max({longest, rows[i].position + 1, rows[i].memory->length});
    }
    float* projected = projected_.sized(static_cast<size_t>(count) * width);
    float* mixed = mixed_.sized(static_cast<size_t>(count) * values);
    float* scratch = scratch_.sized(16 * static_cast<size_t>(longest));
    for (int index = 0; index < s.num_decoder_layers; ++index) {
        const DecoderLayer& layer = model_.decoder[index];
        const int key_place = index * (keys + values), value_place = key_place + keys;
        kernels().multiply(layer.attention->matrix,
                           rounded(*layer.attention, before(x, count, layer.self_norm), count, s.d_model), projected,
                           NONE);
        for (int i = 0; i < count; ++i) {
            const float* from = projected + static_cast<size_t>(i) * width;
            std::memcpy(rows[i].node + key_place, from + keys, 4 * (keys + values));
            kernels().attend(from, rows[i].path, key_place, value_place, rows[i].position + 1, s.heads, scratch,
                             mixed + static_cast<size_t>(i) * values);
        }
        float* y = y_.sized(static_cast<size_t>(count) * s.d_model);
        kernels().multiply(layer.output->matrix, rounded(*layer.output, mixed, count, values), y, NONE);
        residual(x, count, layer.self_norm);
        kernels().multiply(layer.query->matrix,
                           rounded(*layer.query, before(x, count, layer.cross_norm), count, s.d_model), projected, NONE);
        for (int i = 0; i < count;) {
            const MemoryOfSource& memory = *rows[i].memory;
            int end = i + 1;
            while (end < count && rows[end].memory == &memory) ++end;
            const float* from =
                memory.numbers.data() + static_cast<size_t>(memory.length) * (keys + values) * index;
            kernels().attend_all(projected + static_cast<size_t>(i) * keys, end - i, keys, from, from + keys,
                                 keys + values, memory.length, s.heads, scratch,
                                 mixed + static_cast<size_t>(i) * values);
            i = end;
        }
        kernels().multiply(layer.cross_output->matrix, rounded(*layer.cross_output, mixed, count, values), y, NONE);
        residual(x, count, layer.cross_norm);
        feed_forward(x, count, *layer.inner, *layer.outer, layer.feed_forward_norm);
    }
}

Rows Worker::output() {
    return rounded(*model_.projection, before(x_.data(), rows_, model_.decoder_norm), rows_, model_.settings.d_model);
}

}  // namespace dragoman
