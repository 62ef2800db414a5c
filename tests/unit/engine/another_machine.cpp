// Computes with a model that a file holds, on whatever machine this is compiled for: log-probabilities of forced steps.
//
// usage: another_machine MODEL.bin
//
// The file: 12 numbers, epsilon, the parts (each its name, kind or -1 for a vector, outputs, inputs, whether it has
// a scale and a bias, and the numbers), positions (count, width, source, target), sources, and tokens of each step.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct Positions {
    const float *source, *target;
    int count;
};

extern "C" {
const char* dragoman_fault();
void* dragoman_model(const int* numbers, float epsilon);
int dragoman_add_matrix(void*, const char*, const int* shape, const void*, const float* scale, const float* bias);
int dragoman_add_vector(void*, const char*, const float*, int);
int dragoman_connect(void*);
void* dragoman_session(const void*, const int*, const int*, int count, int beam_size, const Positions*);
int dragoman_step(void*, const int*, float*);
}

static FILE* file;

template <class T>
std::vector<T> read(size_t count) {
    std::vector<T> found(count);
    if (std::fread(found.data(), sizeof(T), count, file) != count) std::exit(3);
    return found;
}

static int number() { return read<int32_t>(1)[0]; }

static void need(bool holds) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", dragoman_fault());
    std::exit(1);
}

int main(int, char** arguments) {
    file = std::fopen(arguments[1], "rb");
    if (file == nullptr) return 2;
    const std::vector<int32_t> numbers = read<int32_t>(12);
    void* model = dragoman_model(numbers.data(), read<float>(1)[0]);
    const int parts = number();
    for (int i = 0; i < parts; ++i) {
        const int length = number();
        const std::vector<char> letters = read<char>(length);
        const std::string name(letters.begin(), letters.end());
        const std::vector<int32_t> shape = read<int32_t>(3);
        const bool scaled = number() != 0, biased = number() != 0;
        if (shape[0] < 0) {
            need(dragoman_add_vector(model, name.c_str(), read<float>(shape[1]).data(), shape[1]) == 0);
            continue;
        }
        const size_t size = shape[0] == 0 ? 4 : shape[0] == 1 ? 2 : 1;
        const std::vector<char> values = read<char>(size * shape[1] * shape[2]);
        const std::vector<float> scale = read<float>(scaled ? shape[1] : 0), bias = read<float>(biased ? shape[1] : 0);
        need(dragoman_add_matrix(model, name.c_str(), shape.data(), values.data(), scaled ? scale.data() : nullptr,
                                 biased ? bias.data() : nullptr) == 0);
    }
    need(dragoman_connect(model) == 0);
    const int count = number(), width = number();
    const std::vector<float> source = read<float>(count * width), target = read<float>(count * width);
    const Positions positions{source.data(), target.data(), count};
    const int sentences = number();
    const std::vector<int32_t> lengths = read<int32_t>(sentences);
    size_t all = 0;
    for (const int length : lengths) all += length;
    const std::vector<int32_t> tokens = read<int32_t>(all);
    void* session = dragoman_session(model, tokens.data(), lengths.data(), sentences, 1, &positions);
    need(session != nullptr);
    std::vector<float> logprob(static_cast<size_t>(sentences) * numbers[4]);
    for (int steps = number(); steps > 0; --steps) {
        need(dragoman_step(session, read<int32_t>(sentences).data(), logprob.data()) == 0);
        for (const float value : logprob) std::printf("%.7g\n", value);
    }
    return 0;
}
