/* Inner loops of goldrank, compiled. They know no policy, no message and no measure.

   Each function has a twin in NumPy or Python that gives the same bits: `columns` and `tidy` in io/scan.py, those of many ids
   in data/id_column.py, `survey` and `arrange` in engine/ranking.py, `place` in engine/memory.py. What a function here cannot vouch for it declines, and the twin does that
   piece. Buffers are the caller's; lengths and item sizes are checked before a byte is touched. Little-endian only.

   The contract of each function stands above it. When one changes, CONTRACT is raised here and in native.py. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CONTRACT 3

/* ---- buffers ------------------------------------------------------------------------------------------------- */

/* A buffer of `size` byte items and how many there are; -1 with an exception if it is not such a buffer. */
static int
take(PyObject *object, Py_buffer *view, int writable, Py_ssize_t itemsize, Py_ssize_t *count)
{
    if (PyObject_GetBuffer(object, view, writable ? PyBUF_CONTIG : PyBUF_CONTIG_RO) < 0)
        return -1;
    if (view->itemsize != itemsize) {
        PyErr_Format(PyExc_TypeError, "expected items of %zd bytes, got %zd", itemsize, view->itemsize);
        PyBuffer_Release(view);
        return -1;
    }
    *count = view->len / itemsize;
    return 0;
}

#define MOST_BUFFERS 12

typedef struct {
    Py_buffer views[MOST_BUFFERS];
    Py_ssize_t counts[MOST_BUFFERS];
    int held;
} Buffers;

static void *
hold(Buffers *buffers, PyObject *object, int writable, Py_ssize_t itemsize)
{
    int at = buffers->held;
    if (take(object, &buffers->views[at], writable, itemsize, &buffers->counts[at]) < 0)
        return NULL;
    buffers->held++;
    /* An empty buffer may have no address; NULL is for failure. */
    return buffers->views[at].buf != NULL ? buffers->views[at].buf : (void *)buffers;
}

static void
let_go(Buffers *buffers)
{
    while (buffers->held > 0)
        PyBuffer_Release(&buffers->views[--buffers->held]);
}

/* ---- text to columns ------------------------------------------------------------------------------------------ */

#define MIX 0x9E3779B97F4A7C15ull
#define MIX_WORD 0xD6E8FEB86659FD93ull
#define MOST_DIGITS 19
#define MOST_TENS 22

/* Powers of ten that are exact. */
static const double TENS_FLOAT[MOST_TENS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline uint64_t
word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

/* The first byte from `at` that is 32 or less; there is one, since the text ends with a line end and zeros. */
static inline const uint8_t *
next_blank(const uint8_t *at)
{
    for (;;) {
        uint64_t word = word_at(at);
        uint64_t low = (word - 0x2121212121212121ull) & ~word & 0x8080808080808080ull;
        if (low) {
            /* The lowest mark is exact: borrows go upwards only. */
#if defined(__GNUC__)
            int byte = __builtin_ctzll(low) >> 3;
#else
            int byte = 0;
            for (; !(low & 0x80); low >>= 8)
                byte++;
#endif
            return at + byte;
        }
        at += 8;
    }
}

/* The hash of `hashed` in io/scan.py. Eight bytes past the end may be read. */
static inline uint64_t
hash_of(const uint8_t *at, size_t length)
{
    uint64_t value = 0;
    for (uint64_t i = 0; length; i++) {
        uint64_t word = word_at(at);
        if (length < 8)
            word &= ~0ull >> (64 - 8 * length);
        uint64_t mixed = (word + (word ? i : 0)) * MIX;
        value ^= (mixed ^ (mixed >> 32)) * (MIX_WORD + 2 * i);
        at += 8;
        length = length > 8 ? length - 8 : 0;
    }
    return value ^ (value >> 32);
}

#ifdef __SIZEOF_INT128__
/* mantissa / 10**tens to the nearest double, halves to even, for a mantissa above 2**53 and 0 < tens <= 19. */
static double
divide_exactly(uint64_t mantissa, int tens)
{
    uint64_t divisor = 1;
    for (int i = 0; i < tens; i++)
        divisor *= 10;
    /* Shifted to 127 bits, so that the quotient has at least 62. */
    int shift = 63 + __builtin_clzll(mantissa);
    unsigned __int128 numerator = (unsigned __int128)mantissa << shift;
    unsigned __int128 quotient = numerator / divisor;
    int sticky = numerator % divisor != 0;
    uint64_t high = (uint64_t)(quotient >> 64), low = (uint64_t)quotient;
    int extra = (high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(low)) - 54;
    sticky |= (quotient & (((unsigned __int128)1 << extra) - 1)) != 0;
    quotient >>= extra;
    shift -= extra;
    /* Now 54 bits: the last one is the half. */
    uint64_t bits = (uint64_t)quotient;
    uint64_t kept = bits >> 1;
    if ((bits & 1) && (sticky || (kept & 1)))
        kept++;
    return ldexp((double)kept, 1 - shift);
}
#endif

/* The exponent that follows an e, -99 to 99; 0 if it is not one, or not done here. */
static inline int
exponent(const uint8_t *at, const uint8_t *end, int *tens)
{
    int negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (end - at < 1 || end - at > 2)
        return 0;
    *tens = 0;
    for (; at < end; at++) {
        unsigned digit = (unsigned)*at - '0';
        if (digit > 9)
            return 0;
        *tens = *tens * 10 + (int)digit;
    }
    if (negative)
        *tens = -*tens;
    return 1;
}

/* A number such as -12.345 or 3.5e-07 of up to 19 digits as the nearest double; 0 if it is not one, or not done here. */
static inline int
decimal(const uint8_t *at, const uint8_t *end, double *value)
{
    int negative = *at == '-';
    at += negative || *at == '+';
    uint64_t mantissa = 0;
    int digits = 0, fraction = 0, point = 0, tens = 0;
    for (; at < end; at++) {
        unsigned digit = (unsigned)*at - '0';
        if (digit < 10) {
            if (++digits > MOST_DIGITS)
                return 0;
            mantissa = mantissa * 10 + digit;
            fraction += point;
        }
        else if (*at == '.' && !point)
            point = 1;
        else if (*at == 'e' || *at == 'E') {
            if (!exponent(at + 1, end, &tens))
                return 0;
            break;
        }
        else
            return 0;
    }
    if (digits < 1)
        return 0;
    fraction -= tens;
    double result;
    if (fraction == 0)
        result = (double)mantissa;
    else if (mantissa <= 1ull << 53 && fraction > 0 && fraction <= MOST_TENS)
        result = (double)mantissa / TENS_FLOAT[fraction];
    else if (mantissa <= 1ull << 53 && fraction < 0 && fraction >= -MOST_TENS)
        result = (double)mantissa * TENS_FLOAT[-fraction];
#ifdef __SIZEOF_INT128__
    else if (mantissa > 1ull << 53 && fraction > 0 && fraction <= MOST_DIGITS)
        result = divide_exactly(mantissa, fraction);
#endif
    else
        return 0;
    *value = negative ? -result : result;
    return 1;
}

typedef struct {
    const uint8_t *data;
    Py_ssize_t size;
    Py_ssize_t width, query, doc, number, longest, room, strides;
    int32_t *ends;
    double *score;
    uint64_t *key;
    int64_t *begin, *left;
    Py_ssize_t lines, stretches, undone;
} Table;

/* All lines of a table; 0 as soon as one is not as it should be. */
static int
read_table(Table *table)
{
    const uint8_t *base = table->data, *at = base, *stop = base + table->size;
    const uint8_t *query = NULL;
    size_t query_length = 0;
    Py_ssize_t line = 0;
    while (at < stop) {
        if (line == table->room || *at == '#')
            return 0;
        for (Py_ssize_t field = 0; field < table->width; field++) {
            const uint8_t *end = next_blank(at);
            size_t length = (size_t)(end - at);
            int last = field + 1 == table->width;
            if (length == 0 || length > (size_t)table->longest || !(last ? *end == '\n' : *end == ' ' || *end == '\t'))
                return 0;
            table->ends[field * table->strides + line] = (int32_t)(end - base);
            if (field == table->query) {
                if (query == NULL || length != query_length || memcmp(query, at, length) != 0)
                    table->begin[table->stretches++] = line;
                query = at;
                query_length = length;
            }
            if (field == table->doc)
                table->key[line] = hash_of(at, length);
            if (field == table->number && !decimal(at, end, &table->score[line]))
                table->left[table->undone++] = line;
            at = end + 1;
        }
        line++;
    }
    table->lines = line;
    return 1;
}

static inline int
is_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= 9 && byte <= 13);
}

/* How many fields the text up to `end` has. */
static Py_ssize_t
fields_in(const uint8_t *at, const uint8_t *end)
{
    Py_ssize_t count = 0;
    for (int inside = 0; at < end; at++) {
        int blank = is_blank(*at);
        count += !blank && !inside;
        inside = !blank;
    }
    return count;
}

enum { BLANK_LINES, COMMENTS, COMMENTS_LIKE_DATA, EXTRA_COLUMNS, COUNTS };

typedef struct {
    const uint8_t *data;
    Py_ssize_t size, width, longest, room;
    int extra;
    uint8_t *out;
    int64_t *number;
    Py_ssize_t written, lines;
    int64_t counts[COUNTS];
} Tidying;

/* 1 if done, 0 as soon as a line is not as it should be. */
static int
tidy_lines(Tidying *all)
{
    const uint8_t *at = all->data, *stop = at + all->size;
    uint8_t *out = all->out;
    for (int64_t number = 0; at < stop; number++) {
        while (*at != '\n' && is_blank(*at))
            at++;
        if (*at == '\n') {
            all->counts[BLANK_LINES]++;
            at++;
            continue;
        }
        if (*at == '#') {
            const uint8_t *end = memchr(at, '\n', (size_t)(stop - at));
            all->counts[COMMENTS]++;
            all->counts[COMMENTS_LIKE_DATA] += !is_blank(at[1]) && fields_in(at, end) >= all->width;
            at = end + 1;
            continue;
        }
        if (all->lines == all->room)
            return 0;
        Py_ssize_t width = 0;
        while (*at != '\n') {
            const uint8_t *end = next_blank(at);
            size_t length = (size_t)(end - at);
            if (!is_blank(*end) || length > (size_t)all->longest)
                return 0;
            if (width++ < all->width) {
                /* Every field but the first has had a blank before it, which has room for this one. */
                memcpy(out, at, length);
                out += length;
                *out++ = ' ';
            }
            at = end;
            while (*at != '\n' && is_blank(*at))
                at++;
        }
        if (width < all->width || (width > all->width && !all->extra))
            return 0;
        all->counts[EXTRA_COLUMNS] += width > all->width;
        out[-1] = '\n';
        all->number[all->lines++] = number;
        at++;
    }
    all->written = out - all->out;
    return 1;
}

/* tidy(data, size, width, extra, longest, out, number) -> (bytes, lines, blank, comments, comments like data, extra) or None

   data: as for `columns`. out: room for as many bytes: the first `width` fields of each line of data with one blank between two,
   without lines that are blank or begin with #; number: the line of the input that each is. Declined where a line has too few
   fields, or too many unless `extra`, or a field of more than `longest` bytes, or a control byte other than the blanks. */
static PyObject *
tidy(PyObject *module, PyObject *args)
{
    PyObject *data, *out, *number;
    Tidying all = {0};
    if (!PyArg_ParseTuple(args, "OnnpnOO", &data, &all.size, &all.width, &all.extra, &all.longest, &out, &number))
        return NULL;
    Buffers held = {0};
    PyObject *result = NULL;
    int regular = 0;
    if (!(all.data = hold(&held, data, 0, 1)) || !(all.out = hold(&held, out, 1, 1)) ||
        !(all.number = hold(&held, number, 1, 8)))
        goto done;
    all.room = held.counts[2];
    if (all.width < 1 || all.longest < 0 || all.size < 1 || held.counts[0] - 16 < all.size || held.counts[1] < all.size) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    if (all.data[all.size - 1] == '\n') {
        Py_BEGIN_ALLOW_THREADS
        regular = tidy_lines(&all);
        Py_END_ALLOW_THREADS
    }
    result = regular ? Py_BuildValue("nnLLLL", all.written, all.lines, (long long)all.counts[BLANK_LINES],
                                     (long long)all.counts[COMMENTS], (long long)all.counts[COMMENTS_LIKE_DATA],
                                     (long long)all.counts[EXTRA_COLUMNS])
                     : Py_NewRef(Py_None);
done:
    let_go(&held);
    return result;
}

/* lines(data, size) -> how many of the first `size` bytes are line ends. */
static PyObject *
lines(PyObject *module, PyObject *args)
{
    PyObject *data;
    Py_ssize_t size, count = 0;
    if (!PyArg_ParseTuple(args, "On", &data, &size))
        return NULL;
    Buffers held = {0};
    const uint8_t *at = hold(&held, data, 0, 1);
    if (at == NULL)
        return NULL;
    if (size < 0 || size > held.counts[0])
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
    else {
        Py_BEGIN_ALLOW_THREADS
        const uint8_t *stop = at + size;
        while (at < stop && (at = memchr(at, '\n', (size_t)(stop - at))) != NULL) {
            count++;
            at++;
        }
        Py_END_ALLOW_THREADS
    }
    let_go(&held);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(count);
}

/* columns(data, size, width, query, doc, number, longest, ends, score, key, begin, left) -> (lines, stretches, left) or None

   data: bytes, of which the first `size` are lines and end with LF; at least 16 zero bytes follow. Every line must have `width`
   fields with one blank or tab between two, no control byte, no field of more than `longest` bytes, and not begin with #.
   ends: int32, width rows of `room` columns: where each field ends. score: the field `number` as double (-1: there is none);
   lines whose number is not done are in `left`. key: the hash of field `doc`. begin: lines at which field `query` changes. */
static PyObject *
columns(PyObject *module, PyObject *args)
{
    PyObject *data, *ends, *score, *key, *begin, *left;
    Table table = {0};
    if (!PyArg_ParseTuple(args, "OnnnnnnOOOOO", &data, &table.size, &table.width, &table.query, &table.doc, &table.number,
                          &table.longest, &ends, &score, &key, &begin, &left))
        return NULL;
    Buffers held = {0};
    PyObject *result = NULL;
    int regular = 0;
    if (!(table.data = hold(&held, data, 0, 1)) || !(table.ends = hold(&held, ends, 1, 4)) ||
        !(table.score = hold(&held, score, 1, 8)) || !(table.key = hold(&held, key, 1, 8)) ||
        !(table.begin = hold(&held, begin, 1, 8)) || !(table.left = hold(&held, left, 1, 8)))
        goto done;
    table.room = held.counts[3];
    if (table.width < 1 || table.query < 0 || table.query >= table.width || table.doc < 0 || table.doc >= table.width ||
        table.number >= table.width || table.longest < 0 || table.size < 1 || table.size > INT32_MAX ||
        held.counts[0] - 16 < table.size || held.counts[1] / table.width < table.room || held.counts[2] < table.room ||
        held.counts[4] < table.room || held.counts[5] < table.room) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    table.strides = held.counts[1] / table.width;
    if (table.data[table.size - 1] == '\n') {
        Py_BEGIN_ALLOW_THREADS
        regular = read_table(&table);
        Py_END_ALLOW_THREADS
    }
    result = regular ? Py_BuildValue("nnn", table.lines, table.stretches, table.undone) : Py_NewRef(Py_None);
done:
    let_go(&held);
    return result;
}

/* ---- many ids -------------------------------------------------------------------------------------------------- */

/* Ids as ranges of bytes; at least 8 bytes follow the last, so that words may be read past its end. */
typedef struct {
    const uint8_t *data;
    const int64_t *start, *end;
    Py_ssize_t count;
    int64_t last; /* where the last one may end */
} Ids;

static inline int
is_inside(const Ids *ids, Py_ssize_t i)
{
    return ids->start[i] >= 0 && ids->start[i] <= ids->end[i] && ids->end[i] <= ids->last;
}

/* Takes three buffers; -1 with an exception if they do not fit. Ranges are looked at here, or, `later`, by the caller. */
static int
take_ids(Buffers *held, PyObject *data, PyObject *start, PyObject *end, Ids *ids, int later)
{
    int at = held->held;
    if (!(ids->data = hold(held, data, 0, 1)) || !(ids->start = hold(held, start, 0, 8)) ||
        !(ids->end = hold(held, end, 0, 8)))
        return -1;
    ids->count = held->counts[at + 1];
    ids->last = held->counts[at] - 8;
    int fits = held->counts[at + 2] == ids->count;
    for (Py_ssize_t i = 0; !later && fits && i < ids->count; i++)
        fits = is_inside(ids, i);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "the ids do not fit their data");
        return -1;
    }
    return 0;
}

static inline size_t
id_length(const Ids *ids, Py_ssize_t i)
{
    return (size_t)(ids->end[i] - ids->start[i]);
}

static inline int
same_id(const Ids *one, Py_ssize_t i, const Ids *other, Py_ssize_t j)
{
    size_t length = id_length(one, i);
    return length == id_length(other, j) && memcmp(one->data + one->start[i], other->data + other->start[j], length) == 0;
}

#define TAG 0xFFFFFFFF00000000ull

/* The slot of an id among those known, or the free one where it would go; -1 if the slots are not of those known. A slot holds
   the number of an id, from 1, below the higher half of its hash; 0 is free. `first` is where each one known stands. */
static inline Py_ssize_t
slot_of(const Ids *ids, Py_ssize_t i, const Ids *known, const int64_t *first, const uint64_t *slots, uint64_t mask, uint64_t *tag)
{
    uint64_t hash = hash_of(ids->data + ids->start[i], id_length(ids, i));
    *tag = hash & TAG;
    for (uint64_t slot = hash & mask, tried = 0; tried <= mask; slot = (slot + 1) & mask, tried++) {
        if (!slots[slot])
            return (Py_ssize_t)slot;
        if ((slots[slot] & TAG) != *tag)
            continue;
        Py_ssize_t number = (Py_ssize_t)(slots[slot] & ~TAG) - 1;
        if (number < 0 || number >= known->count)
            return -1;
        number = first ? (Py_ssize_t)first[number] : number;
        if (!is_inside(known, number))
            return -1;
        if (same_id(ids, i, known, number))
            return (Py_ssize_t)slot;
    }
    return -1;
}

/* hashes(data, start, end, out): the hash of each id. */
static PyObject *
hashes(PyObject *module, PyObject *args)
{
    PyObject *data, *start, *end, *out_object;
    if (!PyArg_ParseTuple(args, "OOOO", &data, &start, &end, &out_object))
        return NULL;
    Buffers held = {0};
    Ids ids;
    uint64_t *out;
    PyObject *result = NULL;
    if (take_ids(&held, data, start, end, &ids, 0) < 0 || !(out = hold(&held, out_object, 1, 8)))
        goto done;
    if (held.counts[3] < ids.count) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < ids.count; i++)
        out[i] = hash_of(ids.data + ids.start[i], id_length(&ids, i));
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    let_go(&held);
    return result;
}

/* same(data, start, end, other data, other start, other end, out): for each id whether it is the one of the same place there. */
static PyObject *
same(PyObject *module, PyObject *args)
{
    PyObject *a[3], *b[3], *out_object;
    if (!PyArg_ParseTuple(args, "OOOOOOO", &a[0], &a[1], &a[2], &b[0], &b[1], &b[2], &out_object))
        return NULL;
    Buffers held = {0};
    Ids one, other;
    uint8_t *out;
    PyObject *result = NULL;
    if (take_ids(&held, a[0], a[1], a[2], &one, 0) < 0 || take_ids(&held, b[0], b[1], b[2], &other, 0) < 0 ||
        !(out = hold(&held, out_object, 1, 1)))
        goto done;
    if (one.count != other.count || held.counts[6] < one.count) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < one.count; i++)
        out[i] = (uint8_t)same_id(&one, i, &other, i);
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    let_go(&held);
    return result;
}

/* pack(data, start, end, out): the bytes of all ids, one after the other; `out` has exactly that many. */
static PyObject *
pack(PyObject *module, PyObject *args)
{
    PyObject *data, *start, *end, *out_object;
    if (!PyArg_ParseTuple(args, "OOOO", &data, &start, &end, &out_object))
        return NULL;
    Buffers held = {0};
    Ids ids;
    uint8_t *out;
    PyObject *result = NULL;
    if (take_ids(&held, data, start, end, &ids, 0) < 0 || !(out = hold(&held, out_object, 1, 1)))
        goto done;
    size_t room = (size_t)held.counts[3], at = 0;
    for (Py_ssize_t i = 0; i < ids.count && at <= room; i++)
        at += id_length(&ids, i);
    if (at != room) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < ids.count; i++) {
        memcpy(out, ids.data + ids.start[i], id_length(&ids, i));
        out += id_length(&ids, i);
    }
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    let_go(&held);
    return result;
}

static int
fits_table(Py_ssize_t slots, Py_ssize_t ids)
{
    return slots > ids && !(slots & (slots - 1)) && ids < (Py_ssize_t)0xFFFFFFFF;
}

/* number(data, start, end, slots, code, first) -> how many different ids there are

   code: the number of each id, in the order in which they first appear; first: where that is. slots: a power of two, more than
   there are ids; `find` can use them. */
static PyObject *
number(PyObject *module, PyObject *args)
{
    PyObject *data, *start, *end, *slots_object, *code_object, *first_object;
    if (!PyArg_ParseTuple(args, "OOOOOO", &data, &start, &end, &slots_object, &code_object, &first_object))
        return NULL;
    Buffers held = {0};
    Ids ids;
    uint64_t *slots;
    int64_t *code, *first, count = 0;
    PyObject *result = NULL;
    if (take_ids(&held, data, start, end, &ids, 0) < 0 || !(slots = hold(&held, slots_object, 1, 8)) ||
        !(code = hold(&held, code_object, 1, 8)) || !(first = hold(&held, first_object, 1, 8)))
        goto done;
    if (!fits_table(held.counts[3], ids.count) || held.counts[4] < ids.count || held.counts[5] < ids.count) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    uint64_t mask = (uint64_t)held.counts[3] - 1;
    int fits = 1;
    Py_BEGIN_ALLOW_THREADS
    memset(slots, 0, (size_t)held.counts[3] * sizeof *slots);
    for (Py_ssize_t i = 0; fits && i < ids.count; i++) {
        /* Most are the one before, or new. */
        if (i && same_id(&ids, i, &ids, i - 1)) {
            code[i] = code[i - 1];
            continue;
        }
        uint64_t tag;
        Py_ssize_t slot = slot_of(&ids, i, &ids, first, slots, mask, &tag);
        if (slot < 0) {
            fits = 0; /* cannot be: the slots are ours */
            continue;
        }
        if (!slots[slot]) {
            first[count++] = i;
            slots[slot] = tag | (uint64_t)count;
        }
        code[i] = (int64_t)(slots[slot] & ~TAG) - 1;
    }
    Py_END_ALLOW_THREADS
    if (!fits)
        PyErr_SetString(PyExc_SystemError, "a table of ids was changed while it was made");
    else
        result = PyLong_FromLongLong((long long)count);
done:
    let_go(&held);
    return result;
}

/* find(data, start, end, known data, known start, known end, slots, code): the number of each id among those known, which are all
   different, or -1. slots: as `number` left them for the known ones. */
static PyObject *
find(PyObject *module, PyObject *args)
{
    PyObject *a[3], *b[3], *slots_object, *code_object;
    if (!PyArg_ParseTuple(args, "OOOOOOOO", &a[0], &a[1], &a[2], &b[0], &b[1], &b[2], &slots_object, &code_object))
        return NULL;
    Buffers held = {0};
    Ids ids, known;
    uint64_t *slots;
    int64_t *code;
    PyObject *result = NULL;
    if (take_ids(&held, a[0], a[1], a[2], &ids, 0) < 0 || take_ids(&held, b[0], b[1], b[2], &known, 1) < 0 ||
        !(slots = hold(&held, slots_object, 0, 8)) || !(code = hold(&held, code_object, 1, 8)))
        goto done;
    int fits = fits_table(held.counts[6], known.count) && held.counts[7] >= ids.count;
    if (fits) {
        uint64_t mask = (uint64_t)held.counts[6] - 1;
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t i = 0; fits && i < ids.count; i++) {
            uint64_t tag;
            Py_ssize_t slot = slot_of(&ids, i, &known, NULL, slots, mask, &tag);
            fits = slot >= 0;
            if (fits)
                code[i] = (int64_t)(slots[slot] & ~TAG) - 1;
        }
        Py_END_ALLOW_THREADS
    }
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
    else
        result = Py_NewRef(Py_None);
done:
    let_go(&held);
    return result;
}

/* ascend(data, start, end) -> whether each id is above the one before, by its bytes. */
static PyObject *
ascend(PyObject *module, PyObject *args)
{
    PyObject *data, *start, *end;
    if (!PyArg_ParseTuple(args, "OOO", &data, &start, &end))
        return NULL;
    Buffers held = {0};
    Ids ids;
    int so = 1;
    if (take_ids(&held, data, start, end, &ids, 0) < 0) {
        let_go(&held);
        return NULL;
    }
    for (Py_ssize_t i = 1; so && i < ids.count; i++) {
        size_t before = id_length(&ids, i - 1), length = id_length(&ids, i);
        int order = memcmp(ids.data + ids.start[i - 1], ids.data + ids.start[i], before < length ? before : length);
        so = order < 0 || (order == 0 && before < length);
    }
    let_go(&held);
    return PyBool_FromLong(so);
}

/* ---- ranks of judged documents among sorted lines ------------------------------------------------------------- */

static inline uint64_t
pair_key(uint64_t doc, int64_t code)
{
    uint64_t mixed = (doc ^ ((uint64_t)code + 1) * MIX) * MIX;
    return mixed ^ (mixed >> 29);
}

/* 0 marks an empty slot, so that a key of 0 is looked for as 1: both only say "perhaps". */
static inline uint64_t
slot_key(uint64_t key)
{
    return key ? key : 1;
}

/* fill(keys, slots): put keys into an open hash table of a power of two slots, more than there are keys, all 0 before. */
static PyObject *
fill(PyObject *module, PyObject *args)
{
    PyObject *keys_object, *slots_object;
    if (!PyArg_ParseTuple(args, "OO", &keys_object, &slots_object))
        return NULL;
    Buffers held = {0};
    PyObject *result = NULL;
    uint64_t *keys, *slots;
    if (!(keys = hold(&held, keys_object, 0, 8)) || !(slots = hold(&held, slots_object, 1, 8)))
        goto done;
    Py_ssize_t count = held.counts[0], size = held.counts[1];
    if (size <= count || (size & (size - 1))) {
        PyErr_SetString(PyExc_ValueError, "the table must have a power of two slots, more than there are keys");
        goto done;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        uint64_t key = slot_key(keys[i]);
        Py_ssize_t at = (Py_ssize_t)(key & (uint64_t)(size - 1));
        while (slots[at] && slots[at] != key)
            at = (at + 1) & (size - 1);
        slots[at] = key;
    }
    result = Py_NewRef(Py_None);
done:
    let_go(&held);
    return result;
}

/* Whether a key was seen in this round; it is from now on. A slot is taken if its mark is that of the round, so that nothing is
   cleared between two. */
static inline int
seen_before(uint64_t *seen, uint32_t *mark, uint64_t mask, uint32_t round, uint64_t key)
{
    uint64_t slot = key & mask;
    while (mark[slot] == round && seen[slot] != key)
        slot = (slot + 1) & mask;
    if (mark[slot] == round)
        return 1;
    mark[slot] = round;
    seen[slot] = key;
    return 0;
}

typedef struct {
    const int64_t *start, *code;
    const double *score;
    const uint64_t *key, *slots;
    Py_ssize_t stretches, lines, room;
    uint64_t mask;
    int64_t *line, *stretch, *first, *last, *infinite;
    Py_ssize_t found;
} Survey;

/* 1 if done, 0 if declined, -1 if there is no memory. */
static int
survey_lines(Survey *survey, int repeats)
{
    Py_ssize_t longest = 0;
    for (Py_ssize_t i = 0; i < survey->stretches; i++) {
        Py_ssize_t size = survey->start[i + 1] - survey->start[i];
        if (survey->code[i] >= 0 && size > longest)
            longest = size;
    }
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)longest)
        slots *= 2;
    uint64_t *seen = repeats ? malloc(slots * sizeof *seen) : NULL;
    uint32_t *mark = repeats ? calloc(slots, sizeof *mark) : NULL;
    int outcome = 1;
    if (repeats && (!seen || !mark)) {
        outcome = -1;
        goto done;
    }
    uint32_t round = 0;
    for (Py_ssize_t i = 0; i < survey->stretches; i++) {
        int64_t code = survey->code[i];
        survey->infinite[i] = 0;
        if (code < 0)
            continue;
        Py_ssize_t low = survey->start[i], high = survey->start[i + 1], tie = low, open = survey->found;
        round++;
        for (Py_ssize_t at = low; at < high; at++) {
            double score = survey->score[at];
            if (at > low && score != survey->score[at - 1]) {
                if (score > survey->score[at - 1]) {
                    outcome = 0;
                    goto done;
                }
                for (; open < survey->found; open++)
                    survey->last[open] = at - low;
                tie = at;
            }
            survey->infinite[i] += isinf(score) != 0;
            uint64_t doc = survey->key[at];
            if (repeats && seen_before(seen, mark, slots - 1, round, doc)) {
                outcome = 0;
                goto done;
            }
            uint64_t key = slot_key(pair_key(doc, code)), slot = key & survey->mask;
            while (survey->slots[slot] && survey->slots[slot] != key)
                slot = (slot + 1) & survey->mask;
            if (survey->slots[slot]) {
                if (survey->found == survey->room) {
                    outcome = 0;
                    goto done;
                }
                survey->line[survey->found] = at;
                survey->stretch[survey->found] = i;
                survey->first[survey->found++] = tie - low + 1;
            }
        }
        for (; open < survey->found; open++)
            survey->last[open] = high - low;
    }
done:
    free(seen);
    free(mark);
    return outcome;
}

/* survey(start, code, score, key, slots, repeats, line, stretch, first, last, infinite) -> hits or None

   Stretches of lines [start[i], start[i+1]) of one query each, of which those with code >= 0 are looked at: `line` and `stretch`
   of what is probably judged (by its key in `slots`, see `fill`), first and last rank of its tie group, and per stretch how many
   scores are infinite. Declined if the scores of a stretch do not descend, if a key is in it twice (with `repeats`), or if there
   is no room for more hits. */
static PyObject *
survey(PyObject *module, PyObject *args)
{
    PyObject *start, *code, *score, *key, *slots, *line, *stretch, *first, *last, *infinite;
    int repeats, outcome;
    if (!PyArg_ParseTuple(args, "OOOOOpOOOOO", &start, &code, &score, &key, &slots, &repeats, &line, &stretch, &first, &last,
                          &infinite))
        return NULL;
    Buffers held = {0};
    Survey all = {0};
    PyObject *result = NULL;
    if (!(all.start = hold(&held, start, 0, 8)) || !(all.code = hold(&held, code, 0, 8)) ||
        !(all.score = hold(&held, score, 0, 8)) || !(all.key = hold(&held, key, 0, 8)) ||
        !(all.slots = hold(&held, slots, 0, 8)) || !(all.line = hold(&held, line, 1, 8)) ||
        !(all.stretch = hold(&held, stretch, 1, 8)) || !(all.first = hold(&held, first, 1, 8)) ||
        !(all.last = hold(&held, last, 1, 8)) || !(all.infinite = hold(&held, infinite, 1, 8)))
        goto done;
    all.stretches = held.counts[1];
    all.lines = held.counts[2];
    all.room = held.counts[5];
    Py_ssize_t size = held.counts[4];
    int fits = held.counts[0] == all.stretches + 1 && held.counts[3] == all.lines && size > 0 && !(size & (size - 1)) &&
               held.counts[6] >= all.room && held.counts[7] >= all.room && held.counts[8] >= all.room &&
               held.counts[9] >= all.stretches;
    fits = fits && all.start[0] >= 0 && all.start[all.stretches] <= all.lines;
    for (Py_ssize_t i = 0; fits && i < all.stretches; i++)
        fits = all.start[i] <= all.start[i + 1];
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    all.mask = (uint64_t)size - 1;
    Py_BEGIN_ALLOW_THREADS
    outcome = survey_lines(&all, repeats);
    Py_END_ALLOW_THREADS
    if (outcome < 0)
        PyErr_NoMemory();
    else
        result = outcome ? PyLong_FromSsize_t(all.found) : Py_NewRef(Py_None);
done:
    let_go(&held);
    return result;
}

typedef struct {
    double score;
    int64_t line;
} Scored;

/* Sorts by descending score; those of one score stay in their order. `other` has room for as many. */
static void
sort_scored(Scored *items, Scored *other, Py_ssize_t count)
{
    enum { RUN = 12 };
    for (Py_ssize_t low = 0; low < count; low += RUN) {
        Py_ssize_t high = low + RUN < count ? low + RUN : count;
        for (Py_ssize_t i = low + 1; i < high; i++) {
            Scored item = items[i];
            Py_ssize_t at = i;
            for (; at > low && items[at - 1].score < item.score; at--)
                items[at] = items[at - 1];
            items[at] = item;
        }
    }
    Scored *from = items, *to = other;
    for (Py_ssize_t width = RUN; width < count; width *= 2) {
        for (Py_ssize_t low = 0; low < count; low += 2 * width) {
            Py_ssize_t middle = low + width < count ? low + width : count;
            Py_ssize_t high = middle + width < count ? middle + width : count;
            Py_ssize_t a = low, b = middle, at = low;
            while (a < middle && b < high) {
                /* No jump: which one comes next cannot be foretold. */
                int right = from[b].score > from[a].score;
                to[at++] = from[right ? b : a];
                b += right;
                a += !right;
            }
            memcpy(to + at, from + a, (size_t)(middle - a) * sizeof *to);
            memcpy(to + at + (middle - a), from + b, (size_t)(high - b) * sizeof *to);
        }
        Scored *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, (size_t)count * sizeof *items);
}

/* arrange(code, score, begin, order): order of the lines by code, then descending score, then place

   Codes are 0 or more and less than `begin` is long, which becomes where the lines of each code begin. */
static PyObject *
arrange(PyObject *module, PyObject *args)
{
    PyObject *code_object, *score_object, *begin_object, *order_object;
    if (!PyArg_ParseTuple(args, "OOOO", &code_object, &score_object, &begin_object, &order_object))
        return NULL;
    Buffers held = {0};
    int64_t *code, *begin, *order;
    double *score;
    PyObject *result = NULL;
    Scored *items = NULL;
    if (!(code = hold(&held, code_object, 0, 8)) || !(score = hold(&held, score_object, 0, 8)) ||
        !(begin = hold(&held, begin_object, 1, 8)) || !(order = hold(&held, order_object, 1, 8)))
        goto done;
    Py_ssize_t count = held.counts[0], codes = held.counts[2] - 1;
    int fits = held.counts[1] == count && held.counts[3] >= count && codes >= 0;
    for (Py_ssize_t i = 0; fits && i < count; i++)
        fits = code[i] >= 0 && code[i] < codes;
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    memset(begin, 0, (size_t)(codes + 1) * sizeof *begin);
    Py_ssize_t longest = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        begin[code[i] + 1]++;
    for (Py_ssize_t i = 0; i < codes; i++) {
        longest = begin[i + 1] > longest ? begin[i + 1] : longest;
        begin[i + 1] += begin[i];
    }
    items = malloc((size_t)(count + longest + 1) * sizeof *items);
    if (items == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < count; i++) {
        Scored *item = &items[begin[code[i]]++];
        item->score = score[i];
        item->line = i;
    }
    for (Py_ssize_t i = codes; i > 0; i--)
        begin[i] = begin[i - 1];
    begin[0] = 0;
    for (Py_ssize_t i = 0; i < codes; i++)
        sort_scored(items + begin[i], items + count, begin[i + 1] - begin[i]);
    for (Py_ssize_t i = 0; i < count; i++)
        order[i] = items[i].line;
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    free(items);
    let_go(&held);
    return result;
}

/* repeated(start, key) -> whether a key is twice in one of the stretches [start[i], start[i+1]), perhaps by chance. */
static PyObject *
repeated(PyObject *module, PyObject *args)
{
    PyObject *start_object, *key_object;
    if (!PyArg_ParseTuple(args, "OO", &start_object, &key_object))
        return NULL;
    Buffers held = {0};
    int64_t *start;
    uint64_t *key, *seen = NULL;
    uint32_t *mark = NULL;
    PyObject *result = NULL;
    if (!(start = hold(&held, start_object, 0, 8)) || !(key = hold(&held, key_object, 0, 8)))
        goto done;
    Py_ssize_t stretches = held.counts[0] - 1, longest = 0;
    int fits = stretches >= 0 && stretches < (Py_ssize_t)UINT32_MAX && start[0] >= 0 && start[stretches] <= held.counts[1];
    for (Py_ssize_t i = 0; fits && i < stretches; i++) {
        fits = start[i] <= start[i + 1];
        longest = start[i + 1] - start[i] > longest ? (Py_ssize_t)(start[i + 1] - start[i]) : longest;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)longest)
        slots *= 2;
    seen = malloc(slots * sizeof *seen);
    mark = calloc(slots, sizeof *mark);
    if (!seen || !mark) {
        PyErr_NoMemory();
        goto done;
    }
    int found = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; !found && i < stretches; i++)
        for (int64_t at = start[i]; !found && at < start[i + 1]; at++)
            found = seen_before(seen, mark, slots - 1, (uint32_t)i + 1, key[at]);
    Py_END_ALLOW_THREADS
    result = PyBool_FromLong(found);
done:
    free(seen);
    free(mark);
    let_go(&held);
    return result;
}

/* ---- runs in dicts ---------------------------------------------------------------------------------------------- */

enum { BY_INPUT, DESCENDING, ASCENDING };

/* A judged document of a query whose ranking has it. Hits are ordered by score, those of one score are a group. */
typedef struct {
    double score;
    PyObject *doc;
    const char *text;
    Py_ssize_t length;
    Py_ssize_t group; /* where its group begins */
    int64_t label, first, last, rank;
    int64_t tally; /* what is being counted */
} Hit;

static int
by_score(const void *one, const void *other)
{
    double a = ((const Hit *)one)->score, b = ((const Hit *)other)->score;
    return (a < b) - (a > b);
}

static int
by_rank(const void *one, const void *other)
{
    int64_t a = ((const Hit *)one)->rank, b = ((const Hit *)other)->rank;
    return (a > b) - (a < b);
}

static int
compare_text(const char *a, Py_ssize_t a_length, const char *b, Py_ssize_t b_length)
{
    int order = memcmp(a, b, (size_t)(a_length < b_length ? a_length : b_length));
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int
ascending(const void *one, const void *other)
{
    const Hit *a = one, *b = other;
    return compare_text(a->text, a->length, b->text, b->length);
}

static int
descending(const void *one, const void *other)
{
    return ascending(other, one);
}

/* The first of `count` hits, by descending score, whose score is below `score`. */
static inline Py_ssize_t
first_below(const Hit *hits, Py_ssize_t count, double score)
{
    Py_ssize_t low = 0, high = count;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (hits[middle].score < score)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

typedef struct {
    double *score;
    Hit *hits;
    Py_ssize_t scores_room, hits_room;
    int64_t *rows; /* rank, first, last, label of each hit */
    Py_ssize_t rows_found, rows_room;
    int ties, single;
    int64_t infinite, constant;
} Placing;

/* Room for `need` items; 0 if there is no memory. */
static int
make_room(void **items, Py_ssize_t *room, Py_ssize_t need, size_t size)
{
    if (need <= *room)
        return 1;
    Py_ssize_t more = need + *room / 2 + 64;
    void *grown = realloc(*items, (size_t)more * size);
    if (grown == NULL)
        return 0;
    *items = grown;
    *room = more;
    return 1;
}

static inline double
compared(const Placing *placing, double score)
{
    return placing->single ? (double)(float)score : score;
}

/* A score that is a float (or of a class made from it) or a plain int; 0 if it is anything else, or NaN. */
static inline int
score_of(PyObject *value, double *score)
{
    if (PyFloat_Check(value))
        *score = PyFloat_AsDouble(value);
    else if (PyLong_CheckExact(value)) {
        *score = PyLong_AsDouble(value);
        if (*score == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
    }
    else
        return 0;
    return *score == *score;
}

/* First and last rank of each hit, from all scores of the ranking. */
static void
count_ranks(Placing *placing, Py_ssize_t size, Py_ssize_t count)
{
    Hit *hits = placing->hits;
    for (Py_ssize_t i = 0; i < count; i++) {
        hits[i].group = i && hits[i].score == hits[i - 1].score ? hits[i - 1].group : i;
        hits[i].tally = hits[i].last = 0;
    }
    /* A score is above all hits from the first one below it; and equal to the group before that, perhaps. */
    for (Py_ssize_t i = 0; i < size; i++) {
        Py_ssize_t below = first_below(hits, count, placing->score[i]);
        if (below < count)
            hits[below].tally++;
        if (below > 0 && hits[below - 1].score == placing->score[i])
            hits[hits[below - 1].group].last++;
    }
    int64_t above = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        above += hits[i].tally;
        hits[i].first = hits[i].rank = above + 1;
        hits[i].last = hits[i].group == i ? above + hits[i].last : hits[hits[i].group].last;
    }
}

/* Ranks of hits that share their score with other documents, as the rule says; 0 if declined. */
static int
order_ties(Placing *placing, PyObject *row, Py_ssize_t count)
{
    Hit *hits = placing->hits;
    int any = 0;
    for (Py_ssize_t low = 0, high; low < count; low = high) {
        for (high = low; high < count && hits[high].group == low; high++) {
            if (hits[high].first == hits[high].last)
                continue;
            any = 1;
            hits[high].tally = 0;
            if (!(hits[high].text = PyUnicode_AsUTF8AndSize(hits[high].doc, &hits[high].length)))
                return 0;
        }
        if (hits[low].first < hits[low].last)
            qsort(hits + low, (size_t)(high - low), sizeof *hits, placing->ties == DESCENDING ? descending : ascending);
    }
    if (!any)
        return 1;
    PyObject *doc, *value;
    Py_ssize_t at = 0;
    for (Py_ssize_t i = 0; PyDict_Next(row, &at, &doc, &value); i++) {
        Py_ssize_t end = first_below(hits, count, placing->score[i]), length;
        if (end == 0 || hits[end - 1].score != placing->score[i] || hits[end - 1].first == hits[end - 1].last)
            continue;
        const char *text = PyUnicode_AsUTF8AndSize(doc, &length);
        if (text == NULL)
            return 0;
        /* The first hit of the group that the order by id puts behind this document, or at it where order is the input's. */
        Py_ssize_t group = hits[end - 1].group, low = group, high = end;
        while (low < high) {
            Py_ssize_t middle = (low + high) / 2;
            int order = compare_text(hits[middle].text, hits[middle].length, text, length);
            if (placing->ties == BY_INPUT ? order >= 0 : placing->ties == DESCENDING ? order < 0 : order > 0)
                high = middle;
            else
                low = middle + 1;
        }
        if (placing->ties == BY_INPUT) {
            if (low < end && compare_text(hits[low].text, hits[low].length, text, length) == 0)
                hits[low].rank += hits[group].tally;
            hits[group].tally++;
        }
        else if (low < end)
            hits[low].tally++;
    }
    for (Py_ssize_t i = 0; placing->ties != BY_INPUT && i < count; i++) {
        if (hits[i].first == hits[i].last)
            continue;
        if (hits[i].group != i)
            hits[i].tally += hits[i - 1].tally;
        hits[i].rank += hits[i].tally;
    }
    return 1;
}

/* The judged documents of one query: 1 if done, 0 if declined, -1 if there is no memory. */
static int
place_query(Placing *placing, PyObject *row, PyObject *judged, int64_t first_label)
{
    PyObject *doc, *value;
    Py_ssize_t at = 0, size = 0, count = 0;
    int64_t infinite = 0, different = 0;
    if (!make_room((void **)&placing->score, &placing->scores_room, PyDict_Size(row), sizeof *placing->score) ||
        !make_room((void **)&placing->hits, &placing->hits_room, PyDict_Size(judged), sizeof *placing->hits))
        return -1;
    while (PyDict_Next(row, &at, &doc, &value)) {
        double score;
        if (!PyUnicode_CheckExact(doc) || !score_of(value, &score))
            return 0;
        placing->score[size] = score = compared(placing, score);
        infinite += isinf(score) != 0;
        different += score != placing->score[0];
        size++;
    }
    /* All keys are plain text, so that looking one up runs no Python code, and borrowed references stay good. */
    at = 0;
    for (int64_t label = first_label; PyDict_Next(judged, &at, &doc, &value); label++) {
        if (!PyUnicode_CheckExact(doc))
            return 0;
        PyObject *given = PyDict_GetItemWithError(row, doc);
        if (given == NULL) {
            if (PyErr_Occurred())
                return 0;
            continue;
        }
        Hit *hit = &placing->hits[count++];
        if (!score_of(given, &hit->score))
            return 0;
        hit->score = compared(placing, hit->score);
        hit->doc = doc;
        hit->label = label;
    }
    if (count > 1)
        qsort(placing->hits, (size_t)count, sizeof *placing->hits, by_score);
    count_ranks(placing, size, count);
    if (!order_ties(placing, row, count))
        return 0;
    if (count > 1)
        qsort(placing->hits, (size_t)count, sizeof *placing->hits, by_rank);
    if (!make_room((void **)&placing->rows, &placing->rows_room, placing->rows_found + count, 4 * sizeof *placing->rows))
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Hit *hit = &placing->hits[i];
        int64_t *made = placing->rows + 4 * placing->rows_found++;
        made[0] = hit->rank;
        made[1] = hit->first;
        made[2] = hit->last;
        made[3] = hit->label;
    }
    placing->infinite += infinite;
    placing->constant += size > 1 && !different;
    return 1;
}

/* place(results, queries, judged, start, ties, single, retrieved, placed) -> (rows, left, infinite, constant) or None

   The judged documents of each query in a run that is a dict of dicts: `queries` is a tuple of text, `judged` a list of dicts whose
   rows begin at `start`; ties are BY_INPUT, DESCENDING or ASCENDING by id; `single`: scores are compared in single precision.
   rows: bytes, four int64 a hit (rank, first, last, label), by query and rank. retrieved: documents of each query, -1 where the
   run has no such query. placed: hits of each query. left: numbers of the queries that are declined. None where the run is
   anything but exact dicts under plain text. No Python code runs in here, so the GIL keeps everything as it is. */
static PyObject *
place(PyObject *module, PyObject *args)
{
    PyObject *results, *queries, *judged, *start_object, *retrieved_object, *placed_object;
    Placing placing = {0};
    if (!PyArg_ParseTuple(args, "OO!O!OipOO", &results, &PyTuple_Type, &queries, &PyList_Type, &judged, &start_object,
                          &placing.ties, &placing.single, &retrieved_object, &placed_object))
        return NULL;
    if (!PyDict_CheckExact(results))
        Py_RETURN_NONE;
    PyObject *key, *row, *result = NULL, *left = NULL;
    Py_ssize_t at = 0, size = PyTuple_Size(queries);
    while (PyDict_Next(results, &at, &key, &row))
        if (!PyUnicode_CheckExact(key) || !PyDict_CheckExact(row))
            Py_RETURN_NONE;
    Buffers held = {0};
    int64_t *start, *retrieved, *placed;
    if (!(start = hold(&held, start_object, 0, 8)) || !(retrieved = hold(&held, retrieved_object, 1, 8)) ||
        !(placed = hold(&held, placed_object, 1, 8)) || !(left = PyList_New(0)))
        goto done;
    if (held.counts[0] != size + 1 || held.counts[1] != size || held.counts[2] != size || PyList_Size(judged) != size) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *query = PyTuple_GetItem(queries, i), *documents = PyList_GetItem(judged, i);
        if (!PyUnicode_CheckExact(query) || !PyDict_CheckExact(documents)) {
            PyErr_SetString(PyExc_TypeError, "queries are text, judgements are dicts");
            goto done;
        }
        retrieved[i] = -1;
        placed[i] = 0;
        row = PyDict_GetItemWithError(results, query);
        if (row == NULL) {
            if (PyErr_Occurred())
                goto done;
            continue;
        }
        retrieved[i] = PyDict_Size(row);
        if (retrieved[i] == 0)
            continue;
        Py_ssize_t before = placing.rows_found;
        int outcome = place_query(&placing, row, documents, start[i]);
        if (outcome < 0) {
            PyErr_NoMemory();
            goto done;
        }
        if (outcome == 0) {
            PyErr_Clear();
            PyObject *number = PyLong_FromSsize_t(i);
            int failed = number == NULL || PyList_Append(left, number) < 0;
            Py_XDECREF(number);
            if (failed)
                goto done;
            continue;
        }
        placed[i] = placing.rows_found - before;
    }
    result = Py_BuildValue("y#OLL", placing.rows ? (const char *)placing.rows : "", placing.rows_found * 4 * (Py_ssize_t)sizeof *placing.rows, left,
                           (long long)placing.infinite, (long long)placing.constant);
done:
    free(placing.score);
    free(placing.hits);
    free(placing.rows);
    Py_XDECREF(left);
    let_go(&held);
    return result;
}

/* ---- lists of integer ids --------------------------------------------------------------------------------------- */

/* among(docs, wanted, rank, label) -> (found, distinct, repeated), or None if it declines.

   docs and wanted are ids of 64 bits. For each doc that is wanted, in order, its rank from 1 and a number of its id, the same
   for the same id, are put into rank and label, which have room for all docs. found: how many these are; distinct: how many
   different ids are wanted; repeated: whether an id was found twice. It declines where ids fall together in the table so
   often that the work would no longer grow with their number. */
static PyObject *
among(PyObject *module, PyObject *args)
{
    PyObject *docs_object, *wanted_object, *rank_object, *label_object;
    if (!PyArg_ParseTuple(args, "OOOO", &docs_object, &wanted_object, &rank_object, &label_object))
        return NULL;
    Buffers held = {0};
    const uint64_t *docs, *wanted;
    int64_t *rank, *label;
    int64_t *slots = NULL;
    uint8_t *seen = NULL;
    PyObject *result = NULL;
    if (!(docs = hold(&held, docs_object, 0, 8)) || !(wanted = hold(&held, wanted_object, 0, 8)) ||
        !(rank = hold(&held, rank_object, 1, 8)) || !(label = hold(&held, label_object, 1, 8)))
        goto done;
    Py_ssize_t count = held.counts[0], wanted_count = held.counts[1];
    if (held.counts[2] < count || held.counts[3] < count) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
        goto done;
    }
    int bits = 3;
    while (((Py_ssize_t)1 << bits) < 2 * wanted_count)
        bits++;
    /* A slot holds the number of a wanted id, counted from 1; 0 is an empty one. */
    slots = calloc((size_t)1 << bits, sizeof *slots);
    seen = calloc((size_t)1 << bits, 1);
    if (!slots || !seen) {
        PyErr_NoMemory();
        goto done;
    }
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    Py_ssize_t distinct = 0, found = 0, steps = 16 * (count + wanted_count) + 64;
    int repeats = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < wanted_count && steps >= 0; i++) {
        uint64_t mixed = (wanted[i] ^ (wanted[i] >> 32)) * MIX;
        uint64_t at = (mixed ^ (mixed >> 32)) & mask;
        for (; slots[at] && wanted[slots[at] - 1] != wanted[i] && steps >= 0; steps--)
            at = (at + 1) & mask;
        if (!slots[at]) {
            slots[at] = i + 1;
            distinct++;
        }
    }
    for (Py_ssize_t i = 0; i < count && steps >= 0; i++) {
        uint64_t mixed = (docs[i] ^ (docs[i] >> 32)) * MIX;
        uint64_t at = (mixed ^ (mixed >> 32)) & mask;
        for (; slots[at] && wanted[slots[at] - 1] != docs[i] && steps >= 0; steps--)
            at = (at + 1) & mask;
        if (slots[at] && steps >= 0) {
            rank[found] = i + 1;
            label[found++] = slots[at] - 1;
            repeats |= seen[at];
            seen[at] = 1;
        }
    }
    Py_END_ALLOW_THREADS
    if (steps < 0)
        result = Py_NewRef(Py_None);
    else
        result = Py_BuildValue("nnO", found, distinct, repeats ? Py_True : Py_False);
done:
    free(slots);
    free(seen);
    let_go(&held);
    return result;
}

/* ---- the module ------------------------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"lines", lines, METH_VARARGS, "How many line ends there are."},
    {"columns", columns, METH_VARARGS, "Fields, scores, hashes and changes of query of a text table."},
    {"tidy", tidy, METH_VARARGS, "A text table without blank lines and comments, one blank between fields."},
    {"hashes", hashes, METH_VARARGS, "The hash of each id."},
    {"same", same, METH_VARARGS, "Whether ids are equal, pair by pair."},
    {"pack", pack, METH_VARARGS, "The bytes of ids, one after the other."},
    {"number", number, METH_VARARGS, "Number ids in the order in which they first appear."},
    {"find", find, METH_VARARGS, "The numbers of ids among those known."},
    {"ascend", ascend, METH_VARARGS, "Whether ids are in ascending order."},
    {"arrange", arrange, METH_VARARGS, "The order of lines by query and descending score."},
    {"repeated", repeated, METH_VARARGS, "Whether a key is twice in one stretch."},
    {"fill", fill, METH_VARARGS, "Put keys into an open hash table."},
    {"survey", survey, METH_VARARGS, "Lines that are probably judged, with their tie groups, among sorted lines."},
    {"among", among, METH_VARARGS, "Ranks of wanted integer ids in a list."},
    {"place", place, METH_VARARGS, "Ranks of judged documents in a run that is a dict of dicts."},
    {NULL, NULL, 0, NULL},
};

static int
add_constants(PyObject *module)
{
    return PyModule_AddIntConstant(module, "CONTRACT", CONTRACT);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, add_constants},
    {0, NULL},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "goldrank._native", "Inner loops of goldrank, compiled.", 0, methods,
                                 slots, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
