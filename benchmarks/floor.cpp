// The floor: what a hand-written pass over two TREC files costs that knows three measures and nothing else.
// It checks nothing, trusts that a query's lines are together, and reports mean AP, RR and nDCG@10 as JSON.
//
//   g++ -O3 -march=native -std=c++20 -pthread floor.cpp -o floor && ./floor QRELS RUN THREADS

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

using std::string_view;

struct Hash {
    size_t operator()(string_view text) const {
        uint64_t hash = 1469598103934665603ull;  // FNV-1a: ids are short
        for (unsigned char byte : text) hash = (hash ^ byte) * 1099511628211ull;
        return hash ^ (hash >> 29);
    }
};

using Grades = std::unordered_map<string_view, int, Hash>;
using Qrels = std::unordered_map<string_view, Grades, Hash>;

struct Retrieved {
    double score;
    string_view document;
};

struct Sums {
    double ap = 0, rr = 0, ndcg = 0;
};

static string_view map_file(const char* path) {
    const int file = open(path, O_RDONLY);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) != 0) {
        std::perror(path);
        std::exit(1);
    }
    const size_t size = static_cast<size_t>(facts.st_size);
    void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (start == MAP_FAILED) {
        std::perror(path);
        std::exit(1);
    }
    close(file);
    return {static_cast<const char*>(start), size};
}

static inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The next field of the line at `at`, which is moved behind it.
static inline string_view field(const char*& at, const char* end) {
    while (at < end && is_blank(*at)) at++;
    const char* start = at;
    while (at < end && !is_blank(*at) && *at != '\n') at++;
    return {start, static_cast<size_t>(at - start)};
}

static inline const char* next_line(const char* at, const char* end) {
    const void* newline = std::memchr(at, '\n', static_cast<size_t>(end - at));
    return newline ? static_cast<const char*>(newline) + 1 : end;
}

template <typename Number>
static inline Number number(string_view text) {
    Number value{};
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

static Qrels read_qrels(string_view text) {
    Qrels qrels;
    const char *at = text.data(), *end = at + text.size();
    while (at < end) {
        const string_view query = field(at, end);
        field(at, end);
        const string_view document = field(at, end);
        qrels[query][document] = number<int>(field(at, end));
        at = next_line(at, end);
    }
    return qrels;
}

static void score(std::vector<Retrieved>& ranking, const Grades& grades, Sums& sums) {
    const auto before = [](const Retrieved& a, const Retrieved& b) {
        return a.score > b.score || (a.score == b.score && a.document > b.document);
    };
    if (!std::is_sorted(ranking.begin(), ranking.end(), before)) std::sort(ranking.begin(), ranking.end(), before);

    std::vector<int> ideal;
    for (const auto& judged : grades)
        if (judged.second > 0) ideal.push_back(judged.second);
    if (ideal.empty()) return;
    std::sort(ideal.begin(), ideal.end(), std::greater<>());
    double ideal_gain = 0;
    for (size_t i = 0; i < ideal.size() && i < 10; i++) ideal_gain += ideal[i] / std::log2(i + 2.0);

    int hits = 0;
    double precisions = 0, gain = 0;
    for (size_t i = 0; i < ranking.size(); i++) {
        const auto judged = grades.find(ranking[i].document);
        if (judged == grades.end() || judged->second <= 0) continue;
        if (++hits == 1) sums.rr += 1 / (i + 1.0);
        precisions += hits / (i + 1.0);
        if (i < 10) gain += judged->second / std::log2(i + 2.0);
    }
    sums.ap += precisions / ideal.size();
    sums.ndcg += gain / ideal_gain;
}

static Sums score_part(const char* at, const char* end, const Qrels& qrels) {
    Sums sums;
    std::vector<Retrieved> ranking;
    string_view current;
    const Grades* grades = nullptr;
    const auto finish = [&] {
        if (grades) score(ranking, *grades, sums);
        ranking.clear();
    };
    while (at < end) {
        const string_view query = field(at, end);
        field(at, end);
        const string_view document = field(at, end);
        field(at, end);
        const double value = number<double>(field(at, end));
        at = next_line(at, end);
        if (query != current) {
            finish();
            current = query;
            const auto judged = qrels.find(query);
            grades = judged == qrels.end() ? nullptr : &judged->second;
        }
        ranking.push_back({value, document});
    }
    finish();
    return sums;
}

// Where to cut the run so that every part has whole queries.
static std::vector<const char*> cut(string_view run, size_t parts) {
    const char *start = run.data(), *end = start + run.size();
    std::vector<const char*> cuts{start};
    for (size_t part = 1; part < parts; part++) {
        const char* at = next_line(std::max(cuts.back(), start + run.size() * part / parts), end);
        const char* ahead = at;
        const string_view query = field(ahead, end);
        for (; at < end; at = next_line(at, end)) {
            ahead = at;
            if (field(ahead, end) != query) break;
        }
        cuts.push_back(at);
    }
    cuts.push_back(end);
    return cuts;
}

int main(int count, char** arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: floor QRELS RUN THREADS\n");
        return 2;
    }
    const Qrels qrels = read_qrels(map_file(arguments[1]));
    const string_view run = map_file(arguments[2]);
    const size_t parts = static_cast<size_t>(std::max(1, std::atoi(arguments[3])));
    const std::vector<const char*> cuts = cut(run, parts);

    std::vector<Sums> sums(parts);
    std::vector<std::thread> threads;
    for (size_t part = 0; part < parts; part++)
        threads.emplace_back([&, part] { sums[part] = score_part(cuts[part], cuts[part + 1], qrels); });
    for (auto& thread : threads) thread.join();

    Sums total;
    for (const Sums& part : sums) {
        total.ap += part.ap;
        total.rr += part.rr;
        total.ndcg += part.ndcg;
    }
    const double queries = static_cast<double>(qrels.size());
    std::printf("{\"means\": {\"AP\": %.17g, \"RR\": %.17g, \"nDCG@10\": %.17g}}\n", total.ap / queries,
                total.rr / queries, total.ndcg / queries);
}
