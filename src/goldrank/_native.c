/* The compiled make of the core. It knows no policy, no message and no measure.

   core/contract.py lists the functions and says what each promises; core/portable.py is the plain make, which does the same for
   the same input and declines what is declined here. Buffers are the caller's; lengths and item sizes are checked before a byte
   is touched. Little-endian only.

   What a function does with its buffers stands above it. When that changes, CONTRACT is raised here and in core/contract.py. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CONTRACT 11

/* ---- arguments ------------------------------------------------------------------------------------------------ */

#define MOST_BUFFERS 12

typedef struct {
    Py_buffer views[MOST_BUFFERS];
    Py_ssize_t counts[MOST_BUFFERS]; /* how many items each has */
    int held;
} Buffers;

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

static int
do_not_fit(void)
{
    PyErr_SetString(PyExc_ValueError, "the buffers do not fit each other");
    return -1;
}

static void *
hold(Buffers *held, PyObject *object, int writable, Py_ssize_t itemsize)
{
    Py_buffer *view = &held->views[held->held];
    if (PyObject_GetBuffer(object, view, writable ? PyBUF_CONTIG : PyBUF_CONTIG_RO) < 0)
        return NULL;
    if (view->itemsize != itemsize) {
        PyErr_Format(PyExc_TypeError, "expected items of %zd bytes, got %zd", itemsize, view->itemsize);
        PyBuffer_Release(view);
        return NULL;
    }
    held->counts[held->held++] = view->len / itemsize;
    /* An empty buffer may have no address; NULL is for failure. */
    return view->buf != NULL ? view->buf : (void *)held;
}

static int
hold_ids(Buffers *held, PyObject *args, Py_ssize_t at, Ids *ids, int checked)
{
    int first = held->held;
    if (!(ids->data = hold(held, PyTuple_GetItem(args, at), 0, 1)) ||
        !(ids->start = hold(held, PyTuple_GetItem(args, at + 1), 0, 8)) ||
        !(ids->end = hold(held, PyTuple_GetItem(args, at + 2), 0, 8)))
        return -1;
    ids->count = held->counts[first + 1];
    ids->last = held->counts[first] - 8;
    int fits = held->counts[first + 2] == ids->count;
    for (Py_ssize_t i = 0; checked && fits && i < ids->count; i++)
        fits = is_inside(ids, i);
    return fits ? 0 : do_not_fit();
}

/* The arguments of a call, -1 with an exception if they are not what is wanted. `wanted` has a word for each, and after it stands
   where it is put: r8 and w8 are buffers of items of 8 bytes, to read or to write (void **); i are ids, which are three buffers
   (Ids *), u the same, of which the caller looks at each range; n is a number (Py_ssize_t *), p a flag (int *), o any object
   (PyObject **). What is held is let go by `let_go`, whatever happens. */
static int
take(Buffers *held, PyObject *args, const char *wanted, ...)
{
    va_list places;
    Py_ssize_t at = 0, given = PyTuple_Size(args), count = 0;
    for (const char *word = wanted; *word; word++)
        count += *word == 'i' || *word == 'u' ? 3 : *word < '0' || *word > '9';
    held->held = 0;
    if (given != count) {
        PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", count, given);
        return -1;
    }
    va_start(places, wanted);
    int fits = 1;
    for (const char *word = wanted; fits && *word; word++) {
        void *place = va_arg(places, void *);
        if (*word == 'i' || *word == 'u') {
            fits = hold_ids(held, args, at, place, *word == 'i') == 0;
            at += 3;
            continue;
        }
        PyObject *object = PyTuple_GetItem(args, at++);
        if (*word == 'r' || *word == 'w') {
            int writable = *word == 'w';
            void *items = hold(held, object, writable, *++word - '0');
            fits = items != NULL;
            memcpy(place, &items, sizeof items); /* pointers of any type */
        }
        else if (*word == 'n') {
            *(Py_ssize_t *)place = PyNumber_AsSsize_t(object, PyExc_OverflowError);
            fits = !PyErr_Occurred();
        }
        else if (*word == 'p')
            fits = (*(int *)place = PyObject_IsTrue(object)) >= 0;
        else
            *(PyObject **)place = object;
    }
    va_end(places);
    return fits ? 0 : -1;
}

static void
let_go(Buffers *held)
{
    while (held->held > 0)
        PyBuffer_Release(&held->views[--held->held]);
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

/* Where each hash begins; set once, before any id is hashed. */
static uint64_t hash_seed = 0;

/* The hash of an id (core/hashing.py). Eight bytes past the end may be read. Each word goes into the one before, and the
   first into a secret number: nobody can choose ids that have one hash. A word of zeros changes nothing. */
static inline uint64_t
hash_of(const uint8_t *at, size_t length)
{
    uint64_t value = hash_seed;
    for (uint64_t i = 0; length; i++) {
        uint64_t word = word_at(at);
        if (length < 8)
            word &= ~0ull >> (64 - 8 * length);
        if (word) {
            uint64_t mixed = ((value ^ word) + i) * MIX;
            mixed = (mixed ^ (mixed >> 32)) * MIX_WORD;
            value = mixed ^ (mixed >> 29);
        }
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
    Buffers held;
    Tidying all = {0};
    PyObject *result = NULL;
    int regular = 0;
    if (take(&held, args, "r1nnpnw1w8", &all.data, &all.size, &all.width, &all.extra, &all.longest, &all.out, &all.number) < 0)
        goto done;
    all.room = held.counts[2];
    if (all.width < 1 || all.longest < 0 || all.size < 1 || held.counts[0] - 16 < all.size || held.counts[1] < all.size) {
        do_not_fit();
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

static Py_ssize_t
count_line_ends(const uint8_t *at, Py_ssize_t size)
{
    enum { LANES = 32, MOST = 255 }; /* sums of bytes, which compilers make vectors of, and what one has room for */
    Py_ssize_t count = 0;
    const uint8_t *stop = at + size;
    while (stop - at >= LANES) {
        uint8_t sums[LANES] = {0};
        for (int turn = 0; turn < MOST && stop - at >= LANES; turn++, at += LANES)
            for (int lane = 0; lane < LANES; lane++)
                sums[lane] += at[lane] == '\n';
        for (int lane = 0; lane < LANES; lane++)
            count += sums[lane];
    }
    for (; at < stop; at++)
        count += *at == '\n';
    return count;
}

/* lines(data, size) -> how many of the first `size` bytes are line ends. */
static PyObject *
lines(PyObject *module, PyObject *args)
{
    Buffers held;
    const uint8_t *at;
    Py_ssize_t size, count = 0;
    int taken = take(&held, args, "r1n", &at, &size) == 0;
    if (taken && (size < 0 || size > held.counts[0]))
        do_not_fit();
    else if (taken) {
        Py_BEGIN_ALLOW_THREADS
        count = count_line_ends(at, size);
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
    Buffers held;
    Table table = {0};
    PyObject *result = NULL;
    int regular = 0;
    if (take(&held, args, "r1nnnnnnw4w8w8w8w8", &table.data, &table.size, &table.width, &table.query, &table.doc,
             &table.number, &table.longest, &table.ends, &table.score, &table.key, &table.begin, &table.left) < 0)
        goto done;
    table.room = held.counts[3];
    if (table.width < 1 || table.query < 0 || table.query >= table.width || table.doc < 0 || table.doc >= table.width ||
        table.number >= table.width || table.longest < 0 || table.size < 1 || table.size > INT32_MAX ||
        held.counts[0] - 16 < table.size || held.counts[1] / table.width < table.room || held.counts[2] < table.room ||
        held.counts[4] < table.room || held.counts[5] < table.room) {
        do_not_fit();
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

#define MOST_IN_THE_WAY 1024

/* The slot of an id among those known, or the free one where it would go; -1 if the slots are not of those known, or if so many
   are in the way of an id that somebody chose them for that: the work stays linear. A slot holds
   the number of an id, from 1, below the higher half of its hash; 0 is free. `first` is where each one known stands. */
static inline Py_ssize_t
slot_of(const Ids *ids, Py_ssize_t i, const Ids *known, const int64_t *first, const uint64_t *slots, uint64_t mask, uint64_t *tag)
{
    uint64_t hash = hash_of(ids->data + ids->start[i], id_length(ids, i));
    *tag = hash & TAG;
    for (uint64_t slot = hash & mask, tried = 0; tried <= mask && tried < MOST_IN_THE_WAY;
         slot = (slot + 1) & mask, tried++) {
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

/* _seed(number): where hashes begin, 64 bits. Called once, before anything is hashed: hashes of before are others. */
static PyObject *
seed(PyObject *module, PyObject *number)
{
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    if (value == (unsigned long long)-1 && PyErr_Occurred())
        return NULL;
    hash_seed = value;
    return Py_NewRef(Py_None);
}

/* hashes(data, start, end, out): the hash of each id. */
static PyObject *
hashes(PyObject *module, PyObject *args)
{
    Buffers held;
    Ids ids;
    uint64_t *out;
    PyObject *result = NULL;
    if (take(&held, args, "iw8", &ids, &out) < 0)
        goto done;
    if (held.counts[3] < ids.count) {
        do_not_fit();
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

/* integers(data, start, end, out, left) -> how many are left

   out: each id as a whole number of 1 to 8 digits, perhaps with a sign before them; 0 where it is anything else. left: which those
   are. Both have room for all. */
static PyObject *
integers(PyObject *module, PyObject *args)
{
    Buffers held;
    Ids ids;
    int64_t *out, *left;
    Py_ssize_t undone = 0;
    PyObject *result = NULL;
    if (take(&held, args, "iw8w8", &ids, &out, &left) < 0)
        goto done;
    if (held.counts[3] < ids.count || held.counts[4] < ids.count) {
        do_not_fit();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < ids.count; i++) {
        const uint8_t *at = ids.data + ids.start[i], *end = ids.data + ids.end[i];
        int negative = at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        int whole = end - at >= 1 && end - at <= 8;
        int64_t value = 0;
        for (; whole && at < end; at++) {
            unsigned digit = (unsigned)*at - '0';
            whole = digit <= 9;
            value = value * 10 + digit;
        }
        if (!whole)
            left[undone++] = i;
        out[i] = !whole ? 0 : negative ? -value : value;
    }
    Py_END_ALLOW_THREADS
    result = PyLong_FromSsize_t(undone);
done:
    let_go(&held);
    return result;
}

/* same(data, start, end, other data, other start, other end, out): for each id whether it is the one of the same place there. */
static PyObject *
same(PyObject *module, PyObject *args)
{
    Buffers held;
    Ids one, other;
    uint8_t *out;
    PyObject *result = NULL;
    if (take(&held, args, "iiw1", &one, &other, &out) < 0)
        goto done;
    if (one.count != other.count || held.counts[6] < one.count) {
        do_not_fit();
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
    Buffers held;
    Ids ids;
    uint8_t *out;
    PyObject *result = NULL;
    if (take(&held, args, "iw1", &ids, &out) < 0)
        goto done;
    size_t room = (size_t)held.counts[3], at = 0;
    for (Py_ssize_t i = 0; i < ids.count && at <= room; i++)
        at += id_length(&ids, i);
    if (at != room) {
        do_not_fit();
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

static inline PyObject *
text_of(const Ids *ids, Py_ssize_t i)
{
    return PyUnicode_DecodeUTF8((const char *)ids->data + ids->start[i], (Py_ssize_t)id_length(ids, i), "surrogateescape");
}

/* texts(data, start, end) -> list: the ids as text; bytes that are not UTF-8 become surrogate escapes. */
static PyObject *
texts(PyObject *module, PyObject *args)
{
    Buffers held;
    Ids ids;
    PyObject *found = take(&held, args, "i", &ids) < 0 ? NULL : PyList_New(ids.count);
    for (Py_ssize_t i = 0; found != NULL && i < ids.count; i++) {
        PyObject *text = text_of(&ids, i);
        if (text == NULL || PyList_SetItem(found, i, text) < 0)
            Py_CLEAR(found);
    }
    let_go(&held);
    return found;
}

/* rankings(data, start, end, score, begin) -> list of dicts

   For each stretch of lines the scores by document. `begin` is where each stretch begins, with one more entry than there are
   stretches. A document that is twice in one has its last score: the dict then has fewer entries than the stretch has lines. */
static PyObject *
rankings(PyObject *module, PyObject *args)
{
    Buffers held;
    Ids ids;
    const double *score;
    const int64_t *begin;
    PyObject *found = NULL;
    if (take(&held, args, "ir8r8", &ids, &score, &begin) < 0)
        goto done;
    Py_ssize_t stretches = held.counts[4] - 1;
    int fits = held.counts[3] == ids.count && stretches >= 0 && begin[0] == 0 && begin[stretches] == ids.count;
    for (Py_ssize_t i = 0; fits && i < stretches; i++)
        fits = begin[i] <= begin[i + 1];
    if (!fits) {
        do_not_fit();
        goto done;
    }
    found = PyList_New(stretches);
    for (Py_ssize_t i = 0; found != NULL && i < stretches; i++) {
        PyObject *row = PyDict_New();
        for (Py_ssize_t line = begin[i]; row != NULL && line < begin[i + 1]; line++) {
            PyObject *doc = text_of(&ids, line), *value = PyFloat_FromDouble(score[line]);
            if (doc == NULL || value == NULL || PyDict_SetItem(row, doc, value) < 0)
                Py_CLEAR(row);
            Py_XDECREF(doc);
            Py_XDECREF(value);
        }
        if (row == NULL || PyList_SetItem(found, i, row) < 0)
            Py_CLEAR(found);
    }
done:
    let_go(&held);
    return found;
}

static int
fits_table(Py_ssize_t slots, Py_ssize_t ids)
{
    return slots > ids && !(slots & (slots - 1)) && ids < (Py_ssize_t)0xFFFFFFFF;
}

/* number(data, start, end, slots, code, first) -> how many different ids there are, or None

   code: the number of each id, in the order in which they first appear; first: where that is. slots: a power of two, more than
   there are ids; `find` can use them. Declined where too many ids have one place in them. */
static PyObject *
number(PyObject *module, PyObject *args)
{
    Buffers held;
    Ids ids;
    uint64_t *slots;
    int64_t *code, *first, count = 0;
    PyObject *result = NULL;
    if (take(&held, args, "iw8w8w8", &ids, &slots, &code, &first) < 0)
        goto done;
    if (!fits_table(held.counts[3], ids.count) || held.counts[4] < ids.count || held.counts[5] < ids.count) {
        do_not_fit();
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
            fits = 0;
            continue;
        }
        if (!slots[slot]) {
            first[count++] = i;
            slots[slot] = tag | (uint64_t)count;
        }
        code[i] = (int64_t)(slots[slot] & ~TAG) - 1;
    }
    Py_END_ALLOW_THREADS
    result = fits ? PyLong_FromLongLong((long long)count) : Py_NewRef(Py_None);
done:
    let_go(&held);
    return result;
}

/* find(data, start, end, known data, known start, known end, slots, code) -> whether it was done

   code: the number of each id among those known, which are all different, or -1. slots: as `number` left them for the known ones.
   Declined where too many ids have one place in them, or it is not theirs. */
static PyObject *
find(PyObject *module, PyObject *args)
{
    Buffers held;
    Ids ids, known;
    uint64_t *slots;
    int64_t *code;
    PyObject *result = NULL;
    if (take(&held, args, "iur8w8", &ids, &known, &slots, &code) < 0)
        goto done;
    if (!fits_table(held.counts[6], known.count) || held.counts[7] < ids.count) {
        do_not_fit();
        goto done;
    }
    uint64_t mask = (uint64_t)held.counts[6] - 1;
    int fits = 1;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; fits && i < ids.count; i++) {
        uint64_t tag;
        Py_ssize_t slot = slot_of(&ids, i, &known, NULL, slots, mask, &tag);
        fits = slot >= 0;
        if (fits)
            code[i] = (int64_t)(slots[slot] & ~TAG) - 1;
    }
    Py_END_ALLOW_THREADS
    result = PyBool_FromLong(fits);
done:
    let_go(&held);
    return result;
}

/* ascend(data, start, end) -> whether each id is above the one before, by its bytes. */
static PyObject *
ascend(PyObject *module, PyObject *args)
{
    Buffers held;
    Ids ids;
    int so = 1;
    if (take(&held, args, "i", &ids) < 0) {
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

/* A table that says whether a key was among those of a stretch: tags of keys, 0 where none is. Two keys may have one tag, so that
   its word is "perhaps", after which the keys are sorted to be sure. A quarter of it is in use at most: most keys find a free place
   at once. Where many are in the way of a key, somebody chose ids for that, and it is "perhaps" too: the work does not explode. */
#define SLOTS_PER_KEY 4
#define MOST_TRIES 64

static inline uint64_t
slots_for(Py_ssize_t keys)
{
    uint64_t slots = 16;
    while (slots < SLOTS_PER_KEY * (uint64_t)keys)
        slots *= 2;
    return slots;
}

/* Whether a key was seen before, perhaps; it is from now on. */
static inline int
seen_before(uint32_t *tags, uint64_t mask, uint64_t key)
{
    uint32_t tag = (uint32_t)(key >> 32) | 1;
    uint64_t slot = key & mask;
    for (int tries = 0; tags[slot]; slot = (slot + 1) & mask)
        if (tags[slot] == tag || ++tries == MOST_TRIES)
            return 1;
    tags[slot] = tag;
    return 0;
}

static int
by_key(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* Whether a key is there twice, for certain; -1 if there is no memory. */
static int
has_twice(const uint64_t *key, Py_ssize_t count)
{
    uint64_t *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    int twice = 0;
    if (!sorted)
        return -1;
    memcpy(sorted, key, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_key);
    for (Py_ssize_t i = 1; !twice && i < count; i++)
        twice = sorted[i] == sorted[i - 1];
    free(sorted);
    return twice;
}

typedef struct {
    const int64_t *start, *code;
    const double *score;
    const uint64_t *key;
    const uint8_t *judged;
    int shift; /* of a key to the number of its bit in `judged` */
    Py_ssize_t stretches, lines, room;
    int64_t *line, *stretch, *first, *last, *infinite;
    Py_ssize_t found;
} Survey;

/* One stretch of lines; 0 if declined, -1 if there is no memory. */
static int
survey_stretch(Survey *survey, Py_ssize_t i, uint32_t *tags, uint64_t mask)
{
    const double *score = survey->score;
    const uint8_t *judged = survey->judged;
    int shift = survey->shift;
    int64_t code = survey->code[i], infinite = 0;
    Py_ssize_t low = survey->start[i], high = survey->start[i + 1], tie = low, open = survey->found;
    for (Py_ssize_t at = low; at < high; at++) {
        if (at > low && score[at] != score[at - 1]) {
            if (score[at] > score[at - 1])
                return 0;
            for (; open < survey->found; open++)
                survey->last[open] = at - low;
            tie = at;
        }
        infinite += isinf(score[at]) != 0;
        uint64_t doc = survey->key[at];
        if (tags && seen_before(tags, mask, doc)) {
            int twice = has_twice(survey->key + low, high - low);
            if (twice)
                return twice < 0 ? -1 : 0;
            tags = NULL; /* all are different */
        }
        uint64_t bit = pair_key(doc, code) >> shift;
        if (judged[bit >> 3] >> (bit & 7) & 1) {
            if (survey->found == survey->room)
                return 0;
            survey->line[survey->found] = at;
            survey->stretch[survey->found] = i;
            survey->first[survey->found++] = tie - low + 1;
        }
    }
    for (; open < survey->found; open++)
        survey->last[open] = high - low;
    survey->infinite[i] = infinite;
    return 1;
}

/* 1 if done, 0 if declined, -1 if there is no memory. */
static int
survey_lines(Survey *survey, int repeats)
{
    uint32_t *tags = NULL;
    if (repeats) {
        Py_ssize_t longest = 0;
        for (Py_ssize_t i = 0; i < survey->stretches; i++) {
            Py_ssize_t size = survey->start[i + 1] - survey->start[i];
            if (survey->code[i] >= 0 && size > longest)
                longest = size;
        }
        tags = malloc(slots_for(longest) * sizeof *tags);
        if (!tags)
            return -1;
    }
    int done = 1;
    for (Py_ssize_t i = 0; done > 0 && i < survey->stretches; i++) {
        survey->infinite[i] = 0;
        if (survey->code[i] < 0)
            continue;
        uint64_t slots = slots_for(survey->start[i + 1] - survey->start[i]);
        if (tags)
            memset(tags, 0, slots * sizeof *tags);
        done = survey_stretch(survey, i, tags, slots - 1);
    }
    free(tags);
    return done;
}

/* survey(start, code, score, key, judged, repeats, line, stretch, first, last, infinite) -> hits or None

   Stretches of lines [start[i], start[i+1]) of one query each, of which those with code >= 0 are looked at: `line` and `stretch`
   of what is probably judged, first and last rank of its tie group, and per stretch how many scores are infinite. judged: a power
   of two of bits, at least 8; that of a pair's key, by the highest bits of the key, says that it may be judged. Declined if the
   scores of a stretch do not descend, if a key is in it twice (with `repeats`), or if there is no room for more hits. */
static PyObject *
survey(PyObject *module, PyObject *args)
{
    Buffers held;
    Survey all = {0};
    PyObject *result = NULL;
    int repeats, outcome;
    if (take(&held, args, "r8r8r8r8r1pw8w8w8w8w8", &all.start, &all.code, &all.score, &all.key, &all.judged, &repeats, &all.line,
             &all.stretch, &all.first, &all.last, &all.infinite) < 0)
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
        do_not_fit();
        goto done;
    }
    for (all.shift = 64 - 3; size > 1; size >>= 1)
        all.shift--;
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
    Buffers held;
    int64_t *code, *begin, *order;
    double *score;
    PyObject *result = NULL;
    Scored *items = NULL;
    if (take(&held, args, "r8r8w8w8", &code, &score, &begin, &order) < 0)
        goto done;
    Py_ssize_t count = held.counts[0], codes = held.counts[2] - 1;
    int fits = held.counts[1] == count && held.counts[3] >= count && codes >= 0;
    for (Py_ssize_t i = 0; fits && i < count; i++)
        fits = code[i] >= 0 && code[i] < codes;
    if (!fits) {
        do_not_fit();
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

/* repeated(start, key) -> whether a key is twice in one of the stretches [start[i], start[i+1]). */
static PyObject *
repeated(PyObject *module, PyObject *args)
{
    Buffers held;
    int64_t *start;
    uint64_t *key;
    uint32_t *tags = NULL;
    PyObject *result = NULL;
    if (take(&held, args, "r8r8", &start, &key) < 0)
        goto done;
    Py_ssize_t stretches = held.counts[0] - 1, longest = 0;
    int fits = stretches >= 0 && start[0] >= 0 && start[stretches] <= held.counts[1];
    for (Py_ssize_t i = 0; fits && i < stretches; i++) {
        fits = start[i] <= start[i + 1];
        longest = start[i + 1] - start[i] > longest ? (Py_ssize_t)(start[i + 1] - start[i]) : longest;
    }
    if (!fits) {
        do_not_fit();
        goto done;
    }
    tags = malloc(slots_for(longest) * sizeof *tags);
    if (!tags) {
        PyErr_NoMemory();
        goto done;
    }
    int found = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; !found && i < stretches; i++) {
        Py_ssize_t size = (Py_ssize_t)(start[i + 1] - start[i]);
        uint64_t slots = slots_for(size);
        int perhaps = 0;
        memset(tags, 0, slots * sizeof *tags);
        for (int64_t at = start[i]; !perhaps && at < start[i + 1]; at++)
            perhaps = seen_before(tags, slots - 1, key[at]);
        if (perhaps)
            found = has_twice(key + start[i], size);
    }
    Py_END_ALLOW_THREADS
    if (found < 0)
        PyErr_NoMemory();
    else
        result = PyBool_FromLong(found);
done:
    free(tags);
    let_go(&held);
    return result;
}

/* ---- runs and judgements in dicts ------------------------------------------------------------------------------- */

/* Whether it is a plain text of 1 to `longest` bytes of UTF-8; a text with half of a surrogate pair has none. */
static inline int
is_id(PyObject *object, Py_ssize_t longest)
{
    Py_ssize_t length;
    if (!PyUnicode_CheckExact(object))
        return 0;
    if (PyUnicode_AsUTF8AndSize(object, &length) == NULL) {
        PyErr_Clear();
        return 0;
    }
    return length > 0 && length <= longest;
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

/* Ids and scores are objects anywhere in memory: some are asked for before the first of them is looked at. */
#define AHEAD 16

static inline void
prefetch(const void *object)
{
#if defined(__GNUC__)
    __builtin_prefetch(object);
#else
    (void)object;
#endif
}

/* A dict that another thread, or code that runs while memory is taken, has changed: no number comes of it. */
static int
has_changed(void)
{
    PyErr_SetString(PyExc_RuntimeError, "a dict changed while it was read");
    return -1;
}

/* Puts the scores of a row to `out`; 0 if declined. `others` becomes 1 if one of them is no plain float. */
static int
take_scores(PyObject *row, Py_ssize_t longest, char *out, int *others)
{
    PyObject *docs[AHEAD], *values[AHEAD];
    int filled = AHEAD;
    for (Py_ssize_t at = 0; filled == AHEAD;) {
        for (filled = 0; filled < AHEAD && PyDict_Next(row, &at, &docs[filled], &values[filled]); filled++) {
            prefetch(docs[filled]);
            prefetch(values[filled]);
        }
        for (int i = 0; i < filled; i++, out += sizeof(double)) {
            double score;
            if (!is_id(docs[i], longest) || !score_of(values[i], &score))
                return 0;
            memcpy(out, &score, sizeof score);
            *others |= !PyFloat_CheckExact(values[i]);
        }
    }
    return 1;
}

/* Makes the scores of a row those at `scores`, as floats; -1 with an exception. */
static int
put_floats(PyObject *row, const char *scores)
{
    PyObject *doc, *value;
    for (Py_ssize_t at = 0; PyDict_Next(row, &at, &doc, &value); scores += sizeof(double)) {
        double score;
        memcpy(&score, scores, sizeof score);
        PyObject *number = PyFloat_CheckExact(value) ? Py_NewRef(value) : PyFloat_FromDouble(score);
        int failed = number == NULL || PyDict_SetItem(row, doc, number) < 0;
        Py_XDECREF(number);
        if (failed)
            return -1;
    }
    return 0;
}

/* copied(results, longest) -> (dict, bytes) or None

   A copy of a run that is a dict of dicts, in which every score is a float, and these scores as doubles, row after row. Declined
   unless all are exact dicts under plain text of 1 to `longest` bytes, and each score a float or a plain int, and not NaN: there is
   then nothing else to be checked. */
static PyObject *
copied(PyObject *module, PyObject *args)
{
    Buffers held;
    PyObject *results, *query, *row, *copy = NULL, *scores = NULL, *result = NULL;
    Py_ssize_t longest, count = 0, made = 0;
    int done = 1;
    if (take(&held, args, "on", &results, &longest) < 0)
        return NULL;
    if (!PyDict_CheckExact(results))
        Py_RETURN_NONE;
    /* No Python code runs from here on, not even that of objects which are collected: the GIL keeps everything as it is. */
    int collects = PyGC_Disable();
    for (Py_ssize_t at = 0; done > 0 && PyDict_Next(results, &at, &query, &row);) {
        done = is_id(query, longest) && PyDict_CheckExact(row);
        count += done ? PyDict_Size(row) : 0;
    }
    if (done > 0) {
        copy = PyDict_New();
        scores = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(double));
        done = copy != NULL && scores != NULL ? 1 : -1;
    }
    for (Py_ssize_t at = 0; done > 0 && PyDict_Next(results, &at, &query, &row);) {
        char *out = PyBytes_AsString(scores) + made * (Py_ssize_t)sizeof(double);
        int others = 0;
        made += PyDict_Size(row);
        done = made <= count ? take_scores(row, longest, out, &others) : has_changed();
        if (done <= 0)
            break;
        PyObject *own = PyDict_Copy(row);
        if (own == NULL || (others && put_floats(own, out) < 0) || PyDict_SetItem(copy, query, own) < 0)
            done = -1;
        Py_XDECREF(own);
    }
    if (collects)
        PyGC_Enable();
    if (done > 0)
        result = PyTuple_Pack(2, copy, scores);
    else if (done == 0)
        result = Py_NewRef(Py_None);
    Py_XDECREF(copy);
    Py_XDECREF(scores);
    return result;
}

/* candidates(rows, first, out) -> list or None

   Number the documents of a list of dicts from `first` on, in the order in which they are first met: the number of each document
   of each dict goes into `out`, and those that were met are returned. Declined unless all are exact dicts under exact text. */
static PyObject *
candidates(PyObject *module, PyObject *args)
{
    Buffers held;
    PyObject *rows, *doc, *value, *docs = NULL, *seen = NULL, *result = NULL;
    Py_ssize_t first, at = 0, total = 0;
    int64_t *out;
    if (take(&held, args, "onw8", &rows, &first, &out) < 0)
        goto done;
    Py_ssize_t count = PyList_CheckExact(rows) ? PyList_Size(rows) : -1;
    int plain = count >= 0;
    for (Py_ssize_t i = 0; plain && i < count; i++) {
        PyObject *row = PyList_GetItem(rows, i);
        plain = PyDict_CheckExact(row);
        total += plain ? PyDict_Size(row) : 0;
    }
    if (plain && total != held.counts[0]) {
        do_not_fit();
        goto done;
    }
    if (!plain || !(docs = PyList_New(0)) || !(seen = PyDict_New()))
        goto done;
    /* No Python code runs in here, so the GIL keeps everything as it is. */
    for (Py_ssize_t i = 0; plain && i < count; i++) {
        PyObject *row = PyList_GetItem(rows, i);
        for (Py_ssize_t inner = 0; plain && at < total && PyDict_Next(row, &inner, &doc, &value); at++) {
            if (!(plain = PyUnicode_CheckExact(doc)))
                break;
            PyObject *known = PyDict_GetItemWithError(seen, doc);
            if (known != NULL) {
                out[at] = PyLong_AsSsize_t(known);
                continue;
            }
            out[at] = first + PyList_Size(docs);
            PyObject *own = PyErr_Occurred() ? NULL : PyLong_FromSsize_t((Py_ssize_t)out[at]);
            int failed = own == NULL || PyDict_SetItem(seen, doc, own) < 0 || PyList_Append(docs, doc) < 0;
            Py_XDECREF(own);
            if (failed)
                goto done;
        }
    }
    if (plain && at != total)
        has_changed();
    else if (plain) {
        result = docs;
        docs = NULL;
    }
done:
    let_go(&held);
    Py_XDECREF(seen);
    Py_XDECREF(docs);
    if (result == NULL && !PyErr_Occurred())
        Py_RETURN_NONE;
    return result;
}

/* judgements(given, longest, highest) -> dict or None

   A copy of judgements that are a dict of dicts. Declined unless all are exact dicts under plain text of 1 to `longest` bytes, and
   each grade a plain int between -highest and highest. */
static PyObject *
judgements(PyObject *module, PyObject *args)
{
    Buffers held;
    PyObject *given, *query, *row, *doc, *value;
    Py_ssize_t longest, highest, at = 0;
    if (take(&held, args, "onn", &given, &longest, &highest) < 0)
        return NULL;
    if (!PyDict_CheckExact(given))
        Py_RETURN_NONE;
    /* As in `copied`, no Python code runs in here. */
    int collects = PyGC_Disable();
    PyObject *copy = PyDict_New();
    int plain = copy != NULL;
    while (plain && PyDict_Next(given, &at, &query, &row)) {
        plain = is_id(query, longest) && PyDict_CheckExact(row);
        for (Py_ssize_t inner = 0; plain && PyDict_Next(row, &inner, &doc, &value);) {
            plain = is_id(doc, longest) && PyLong_CheckExact(value);
            if (plain) {
                Py_ssize_t grade = PyLong_AsSsize_t(value);
                plain = grade >= -highest && grade <= highest && !PyErr_Occurred();
            }
        }
        if (!plain)
            break;
        PyObject *docs = PyDict_Copy(row);
        plain = docs != NULL && PyDict_SetItem(copy, query, docs) == 0;
        Py_XDECREF(docs);
    }
    if (collects)
        PyGC_Enable();
    if (plain)
        return copy;
    Py_XDECREF(copy);
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return NULL;
    PyErr_Clear();
    Py_RETURN_NONE;
}

/* grades(rows, out) -> whether it was done: the grades of a list of dicts, row after row, where each is a plain int. */
static PyObject *
grades(PyObject *module, PyObject *args)
{
    Buffers held;
    PyObject *rows, *doc, *value;
    int64_t *out;
    if (take(&held, args, "ow8", &rows, &out) < 0 || !PyList_Check(rows)) {
        let_go(&held);
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_False);
    }
    Py_ssize_t made = 0;
    int plain = 1;
    for (Py_ssize_t i = 0; plain && i < PyList_Size(rows); i++) {
        PyObject *row = PyList_GetItem(rows, i);
        plain = PyDict_CheckExact(row);
        for (Py_ssize_t at = 0; plain && PyDict_Next(row, &at, &doc, &value);) {
            plain = PyLong_CheckExact(value) && made < held.counts[0];
            if (plain)
                out[made++] = PyLong_AsLongLong(value);
        }
    }
    plain = plain && made == held.counts[0] && !PyErr_Occurred();
    PyErr_Clear();
    let_go(&held);
    return PyBool_FromLong(plain);
}

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

/* How many of `count` descending numbers are not below `least`. */
static inline Py_ssize_t
not_below(const double *numbers, Py_ssize_t count, double least)
{
    const double *low = numbers;
    while (count > 0) {
        /* No jump: which half it is cannot be foretold. */
        Py_ssize_t half = (count + 1) / 2;
        low += low[half - 1] >= least ? half : 0;
        count -= half;
    }
    return low - numbers;
}

typedef struct {
    double *score;   /* of one ranking, in single precision */
    double *groups;  /* the score of each group of hits */
    Scored *scored;  /* twice as many as hits */
    Hit *hits, *sorted;
    PyObject **rows; /* of each query */
    Py_ssize_t *begin, *sizes; /* where its scores begin, and how many it has */
    Py_ssize_t scores_room, groups_room, scored_room, hits_room, sorted_room;
    int64_t *query, *rank, *first, *last, *label;
    Py_ssize_t count; /* of hits, each of which holds its document */
    Py_ssize_t found, tied, room;
    int ties, single;
    int64_t infinite, constant;
} Placing;

static int
no_memory(void)
{
    PyErr_NoMemory();
    return -1;
}

/* Room for `need` items; 0 if there is no memory. */
static int
make_room(void *items, Py_ssize_t *room, Py_ssize_t need, size_t size)
{
    if (need <= *room)
        return 1;
    void *old, *grown;
    memcpy(&old, items, sizeof old);
    Py_ssize_t more = need + *room / 2 + 64;
    if (!(grown = realloc(old, (size_t)more * size)))
        return 0;
    memcpy(items, &grown, sizeof grown);
    *room = more;
    return 1;
}

/* Up to so many groups of hits, each is counted on its own. */
#define FEW 6

/* First and last rank of each hit, from all scores of the ranking. */
static void
count_ranks(Placing *placing, const double *score, Py_ssize_t size, int descends, Py_ssize_t count)
{
    Hit *hits = placing->hits;
    double *groups = placing->groups;
    Py_ssize_t made = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        hits[i].group = i && hits[i].score == hits[i - 1].score ? hits[i - 1].group : i;
        hits[i].tally = hits[i].last = 0;
        if (hits[i].group == i)
            groups[made++] = hits[i].score;
    }
    /* Of each group, how many scores are above it, and as high. */
    if (descends || made <= FEW)
        for (Py_ssize_t i = 0; i < count; i++) {
            if (hits[i].group != i)
                continue;
            double own = hits[i].score;
            int64_t above = 0, level = 0;
            if (descends) {
                level = not_below(score, size, own);
                for (above = level; above > 0 && score[above - 1] == own; above--)
                    ;
            }
            else
                for (Py_ssize_t at = 0; at < size; at++) {
                    above += score[at] > own;
                    level += score[at] >= own;
                }
            hits[i].tally = above;
            hits[i].last = level;
        }
    else {
        /* Group g is counted at hit g, and spread afterwards. */
        for (Py_ssize_t at = 0; at < size; at++) {
            Py_ssize_t below = not_below(groups, made, score[at]);
            if (below > 0 && groups[below - 1] == score[at])
                hits[below - 1].last++;
            else if (below < made)
                hits[below].tally++;
        }
        int64_t above = 0;
        for (Py_ssize_t g = 0; g < made; g++) {
            above += hits[g].tally;
            hits[g].tally = above;
            above += hits[g].last;
            hits[g].last = above;
        }
        /* From the last on, so that none is overwritten before it is read. */
        for (Py_ssize_t i = count - 1, g = made - 1; i >= 0; i--)
            if (hits[i].group == i) {
                int64_t tally = hits[g].tally, last = hits[g].last;
                hits[i].tally = tally;
                hits[i].last = last;
                g--;
            }
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const Hit *head = &hits[hits[i].group];
        hits[i].first = hits[i].rank = head->tally + 1;
        hits[i].last = head->last;
    }
}

/* Ranks of hits that share their score with other documents, as the rule says; 0 if declined. */
static int
order_ties(Placing *placing, PyObject *row, const double *score, Py_ssize_t size, Py_ssize_t count)
{
    Hit *hits = placing->hits;
    int any = 0;
    Py_ssize_t made = 0;
    for (Py_ssize_t low = 0, high; low < count; low = high, made++) {
        for (high = low; high < count && hits[high].group == low; high++) {
            if (hits[high].first == hits[high].last)
                continue;
            any = 1;
            hits[high].tally = 0;
            if (!(hits[high].text = PyUnicode_AsUTF8AndSize(hits[high].doc, &hits[high].length)))
                return 0;
        }
        if (high - low > 1)
            qsort(hits + low, (size_t)(high - low), sizeof *hits, placing->ties == DESCENDING ? descending : ascending);
        /* From here on, the group of a number among all groups begins where its `Scored` says. */
        placing->scored[made].line = low;
    }
    if (!any)
        return 1;
    PyObject *doc, *value;
    Py_ssize_t at = 0;
    for (Py_ssize_t i = 0; PyDict_Next(row, &at, &doc, &value) && i < size; i++) {
        Py_ssize_t number = not_below(placing->groups, made, score[i]) - 1, length;
        if (number < 0 || placing->groups[number] != score[i])
            continue;
        Py_ssize_t group = placing->scored[number].line;
        Py_ssize_t end = number + 1 < made ? placing->scored[number + 1].line : count;
        if (hits[group].first == hits[group].last)
            continue;
        const char *text = PyUnicode_Check(doc) ? PyUnicode_AsUTF8AndSize(doc, &length) : NULL;
        if (text == NULL)
            return 0;
        /* The first hit of the group that the order by id puts behind this document, or at it where order is the input's. */
        Py_ssize_t low = group, high = end;
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
    if (placing->ties == BY_INPUT)
        qsort(hits, (size_t)count, sizeof *hits, by_rank);
    return 1;
}

/* Puts hits into the order of their scores; 0 if there is no memory. */
static int
sort_hits(Placing *placing, Py_ssize_t count)
{
    int sorted = 1;
    for (Py_ssize_t i = 1; sorted && i < count; i++)
        sorted = placing->hits[i].score <= placing->hits[i - 1].score;
    if (sorted)
        return 1;
    if (!make_room(&placing->sorted, &placing->sorted_room, count, sizeof *placing->sorted))
        return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        placing->scored[i].score = placing->hits[i].score;
        placing->scored[i].line = i;
    }
    sort_scored(placing->scored, placing->scored + count, count);
    for (Py_ssize_t i = 0; i < count; i++)
        placing->sorted[i] = placing->hits[placing->scored[i].line];
    Hit *hits = placing->sorted;
    Py_ssize_t room = placing->sorted_room;
    placing->sorted = placing->hits;
    placing->sorted_room = placing->hits_room;
    placing->hits = hits;
    placing->hits_room = room;
    return 1;
}

/* The judged documents of one query: 1 if done, 0 if declined, -1 with an exception. */
static int
place_query(Placing *placing, PyObject *row, const double *score, PyObject *judged, int64_t query, int64_t label)
{
    PyObject *doc, *value;
    Py_ssize_t at = 0, size = placing->sizes[query], most = PyDict_Size(judged), count = 0;
    if (!make_room(&placing->hits, &placing->hits_room, most, sizeof *placing->hits) ||
        !make_room(&placing->groups, &placing->groups_room, most, sizeof *placing->groups) ||
        !make_room(&placing->scored, &placing->scored_room, 2 * most, sizeof *placing->scored))
        return no_memory();
    if (placing->single) {
        if (!make_room(&placing->score, &placing->scores_room, size, sizeof *placing->score))
            return no_memory();
        for (Py_ssize_t i = 0; i < size; i++)
            placing->score[i] = (double)(float)score[i];
        score = placing->score;
    }
    int64_t infinite = 0, rises = 0;
    for (Py_ssize_t i = 0; i < size; i++)
        infinite += isinf(score[i]) != 0;
    for (Py_ssize_t i = 1; i < size; i++)
        rises += score[i] > score[i - 1];
    int constant = size > 1 && score[0] == score[size - 1];
    for (Py_ssize_t i = 1; constant && i < size; i++)
        constant = score[i] == score[0];
    for (; PyDict_Next(judged, &at, &doc, &value); label++) {
        if (!PyUnicode_CheckExact(doc))
            return 0; /* looking it up may run Python code */
        if (count == most)
            return has_changed();
        /* If a key of the row is no plain text, this runs its code, and nothing but what is held is then sure to be there. */
        Hit *hit = &placing->hits[count];
        hit->doc = Py_NewRef(doc);
        PyObject *given = PyDict_GetItemWithError(row, doc);
        if (given == NULL || !score_of(given, &hit->score)) {
            Py_DECREF(hit->doc);
            if (given != NULL || PyErr_Occurred())
                return 0;
            continue;
        }
        placing->count = ++count;
        if (placing->single)
            hit->score = (double)(float)hit->score;
        hit->label = label;
    }
    if (PyDict_Size(row) != size || PyDict_Size(judged) != most)
        return has_changed();
    if (!sort_hits(placing, count))
        return no_memory();
    count_ranks(placing, score, size, !rises, count);
    for (Py_ssize_t i = 0; i < count; i++)
        if (placing->hits[i].first > placing->hits[i].last)
            return has_changed(); /* its score is not among those of the row */
    if (!order_ties(placing, row, score, size, count) || placing->found + count > placing->room)
        return 0;
    for (Py_ssize_t i = 0, to = placing->found; i < count; i++, to++) {
        const Hit *hit = &placing->hits[i];
        placing->query[to] = query;
        placing->rank[to] = hit->rank;
        placing->first[to] = hit->first;
        placing->last[to] = hit->last;
        placing->label[to] = hit->label;
        placing->tied += hit->first < hit->last;
    }
    placing->found += count;
    placing->infinite += infinite;
    placing->constant += constant;
    return 1;
}

/* Where the run has each judged query, and names of queries that are not judged; 0 if declined, -1 with an exception. */
static int
find_queries(Placing *placing, PyObject *results, PyObject *numbers, Py_ssize_t size, Py_ssize_t scores, PyObject *unjudged)
{
    PyObject *key, *row;
    Py_ssize_t at = 0, begin = 0;
    while (PyDict_Next(results, &at, &key, &row)) {
        if (!PyUnicode_CheckExact(key) || !PyDict_CheckExact(row))
            return 0;
        /* Held, as looking it up could run code of another key. */
        Py_INCREF(key);
        Py_INCREF(row);
        PyObject *number = PyDict_GetItemWithError(numbers, key);
        int failed = 0;
        if (number == NULL)
            failed = PyErr_Occurred() || PyList_Append(unjudged, key) < 0;
        else {
            Py_ssize_t i = PyNumber_AsSsize_t(number, PyExc_OverflowError);
            failed = i < 0 || i >= size || placing->rows[i] != NULL;
            if (!failed) {
                placing->rows[i] = Py_NewRef(row);
                placing->begin[i] = begin;
                placing->sizes[i] = PyDict_Size(row);
            }
            else if (!PyErr_Occurred())
                do_not_fit();
        }
        begin += PyDict_Size(row);
        Py_DECREF(key);
        Py_DECREF(row);
        if (failed)
            return -1;
    }
    return begin == scores ? 1 : has_changed();
}

/* place(results, scores, numbers, judged, start, ties, single, retrieved, answered, found)
   -> (hits, tied, lines, left, unjudged, infinite, constant) or None

   The judged documents of each query in a run that is a dict of dicts, whose scores are the bytes that `copied` has given.
   `numbers` is a dict of the judged queries and their numbers, `judged` a list of dicts whose rows begin at `start`; ties are
   BY_INPUT, DESCENDING or ASCENDING by id; `single`: scores are compared in single precision. found: five columns, with room for
   all judgements each, that become query, rank, first and last rank of its tie group, and label of each hit, by query and rank.
   retrieved: documents of each query; answered: whether the run has it. tied: hits that share their score with another document.
   lines: documents of all judged queries. left: numbers of the queries that are declined. unjudged: names of queries of the run
   that have no number. None where the run is no dict of dicts under text; RuntimeError where it has not those scores. */
static PyObject *
place(PyObject *module, PyObject *args)
{
    Buffers held;
    PyObject *results, *numbers, *judged, *result = NULL, *left = NULL, *unjudged = NULL;
    const uint8_t *bytes;
    int64_t *start, *retrieved, *found;
    uint8_t *answered;
    Py_ssize_t ties, size = 0, lines = 0;
    Placing placing = {0};
    if (take(&held, args, "or1oor8npw8w1w8", &results, &bytes, &numbers, &judged, &start, &ties, &placing.single, &retrieved,
             &answered, &found) < 0)
        goto done;
    const double *scores = (const double *)(const void *)bytes;
    Py_ssize_t given = held.counts[0] / 8;
    size = held.counts[2];
    if (ties < BY_INPUT || ties > ASCENDING || held.counts[0] % 8 || (uintptr_t)bytes % sizeof *scores ||
        !PyDict_CheckExact(numbers) || !PyList_Check(judged) || PyList_Size(judged) != size || held.counts[1] != size + 1 ||
        held.counts[3] != size || held.counts[4] % 5 || start[0] != 0 || start[size] != held.counts[4] / 5) {
        do_not_fit();
        goto done;
    }
    if (!PyDict_CheckExact(results)) {
        result = Py_NewRef(Py_None);
        goto done;
    }
    placing.ties = (int)ties;
    placing.room = held.counts[4] / 5;
    int64_t **columns[] = {&placing.query, &placing.rank, &placing.first, &placing.last, &placing.label};
    for (int i = 0; i < 5; i++)
        *columns[i] = found + i * placing.room;
    placing.rows = calloc((size_t)size + 1, sizeof *placing.rows);
    placing.begin = malloc(((size_t)size + 1) * sizeof *placing.begin);
    placing.sizes = malloc(((size_t)size + 1) * sizeof *placing.sizes);
    if (!placing.rows || !placing.begin || !placing.sizes) {
        PyErr_NoMemory();
        goto done;
    }
    if (!(left = PyList_New(0)) || !(unjudged = PyList_New(0)))
        goto done;
    int known = find_queries(&placing, results, numbers, size, given, unjudged);
    if (known <= 0) {
        result = known < 0 ? NULL : Py_NewRef(Py_None);
        goto done;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *row = placing.rows[i];
        answered[i] = row != NULL;
        retrieved[i] = row == NULL ? 0 : placing.sizes[i];
        lines += retrieved[i];
        if (retrieved[i] == 0)
            continue;
        PyObject *documents = PyList_GetItem(judged, i);
        if (documents == NULL)
            goto done;
        int outcome = 0;
        if (PyDict_CheckExact(documents)) {
            Py_INCREF(documents);
            outcome = PyDict_Size(documents) == start[i + 1] - start[i] ? 1 : has_changed();
            if (outcome > 0)
                outcome = place_query(&placing, row, scores + placing.begin[i], documents, i, start[i]);
            Py_DECREF(documents);
        }
        while (placing.count > 0)
            Py_DECREF(placing.hits[--placing.count].doc);
        if (outcome < 0)
            goto done;
        if (outcome == 0) {
            PyErr_Clear();
            PyObject *number = PyLong_FromSsize_t(i);
            int failed = number == NULL || PyList_Append(left, number) < 0;
            Py_XDECREF(number);
            if (failed)
                goto done;
        }
    }
    result = Py_BuildValue("nnnOOLL", placing.found, placing.tied, lines, left, unjudged, (long long)placing.infinite,
                           (long long)placing.constant);
done:
    for (Py_ssize_t i = 0; placing.rows && i < size; i++)
        Py_XDECREF(placing.rows[i]);
    free(placing.rows);
    free(placing.begin);
    free(placing.sizes);
    free(placing.score);
    free(placing.groups);
    free(placing.scored);
    free(placing.hits);
    free(placing.sorted);
    Py_XDECREF(left);
    Py_XDECREF(unjudged);
    let_go(&held);
    return result;
}

/* ---- lists of integer ids --------------------------------------------------------------------------------------- */

/* A wanted id and its number, which is where it stands first. */
typedef struct {
    uint64_t id;
    int64_t number;
} Wanted;

static int
by_id(const void *one, const void *other)
{
    const Wanted *a = one, *b = other;
    if (a->id != b->id)
        return a->id > b->id ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

typedef struct {
    const uint64_t *docs, *wanted;
    Py_ssize_t count, wanted_count;
    int64_t *rank, *label;
    Py_ssize_t found, distinct;
    int repeats;
} Among;

static inline void
is_found(Among *all, Py_ssize_t i, int64_t number, uint8_t *seen)
{
    all->rank[all->found] = i + 1;
    all->label[all->found++] = number;
    all->repeats |= *seen;
    *seen = 1;
}

/* By a table: 1 if done, 0 if ids fall together in it so often that somebody chose them for that, -1 if there is no memory. */
static int
among_by_table(Among *all)
{
    int bits = 3;
    while (((Py_ssize_t)1 << bits) < 2 * all->wanted_count)
        bits++;
    /* A slot holds the number of a wanted id, counted from 1; 0 is an empty one. */
    int64_t *slots = calloc((size_t)1 << bits, sizeof *slots);
    uint8_t *seen = calloc((size_t)1 << bits, 1);
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    Py_ssize_t steps = slots && seen ? 16 * (all->count + all->wanted_count) + 64 : -1;
    int outcome = steps < 0 ? -1 : 1;
    for (Py_ssize_t i = 0; i < all->wanted_count && steps >= 0; i++) {
        uint64_t mixed = (all->wanted[i] ^ (all->wanted[i] >> 32)) * MIX;
        uint64_t at = (mixed ^ (mixed >> 32)) & mask;
        for (; slots[at] && all->wanted[slots[at] - 1] != all->wanted[i] && steps >= 0; steps--)
            at = (at + 1) & mask;
        if (!slots[at]) {
            slots[at] = i + 1;
            all->distinct++;
        }
    }
    for (Py_ssize_t i = 0; i < all->count && steps >= 0; i++) {
        uint64_t mixed = (all->docs[i] ^ (all->docs[i] >> 32)) * MIX;
        uint64_t at = (mixed ^ (mixed >> 32)) & mask;
        for (; slots[at] && all->wanted[slots[at] - 1] != all->docs[i] && steps >= 0; steps--)
            at = (at + 1) & mask;
        if (slots[at] && steps >= 0)
            is_found(all, i, slots[at] - 1, &seen[at]);
    }
    if (outcome > 0 && steps < 0)
        outcome = 0;
    free(slots);
    free(seen);
    return outcome;
}

/* The same by a search among sorted ids; -1 if there is no memory. */
static int
among_by_search(Among *all)
{
    size_t count = (size_t)all->wanted_count;
    Wanted *sorted = malloc((count + 1) * sizeof *sorted);
    uint8_t *seen = calloc(count + 1, 1);
    all->found = all->distinct = all->repeats = 0;
    for (size_t i = 0; sorted && seen && i < count; i++) {
        sorted[i].id = all->wanted[i];
        sorted[i].number = (int64_t)i;
    }
    if (sorted && seen && count)
        qsort(sorted, count, sizeof *sorted, by_id);
    for (size_t i = 0; sorted && seen && i < count; i++)
        all->distinct += !i || sorted[i].id != sorted[i - 1].id;
    for (Py_ssize_t i = 0; sorted && seen && i < all->count; i++) {
        size_t low = 0, high = count;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (sorted[middle].id < all->docs[i])
                low = middle + 1;
            else
                high = middle;
        }
        if (low < count && sorted[low].id == all->docs[i])
            is_found(all, i, sorted[low].number, &seen[low]);
    }
    int outcome = sorted && seen ? 1 : -1;
    free(sorted);
    free(seen);
    return outcome;
}

/* among(docs, wanted, rank, label) -> (found, distinct, repeated)

   docs and wanted are ids of 64 bits. For each doc that is wanted, in order, its rank from 1 and where its id first stands in
   `wanted` are put into rank and label, which have room for all docs. found: how many these are; distinct: how many different ids
   are wanted; repeated: whether an id was found twice. */
static PyObject *
among(PyObject *module, PyObject *args)
{
    Buffers held;
    Among all = {0};
    PyObject *result = NULL;
    if (take(&held, args, "r8r8w8w8", &all.docs, &all.wanted, &all.rank, &all.label) < 0)
        goto done;
    all.count = held.counts[0];
    all.wanted_count = held.counts[1];
    if (held.counts[2] < all.count || held.counts[3] < all.count) {
        do_not_fit();
        goto done;
    }
    int outcome;
    Py_BEGIN_ALLOW_THREADS
    outcome = among_by_table(&all);
    if (outcome == 0)
        outcome = among_by_search(&all);
    Py_END_ALLOW_THREADS
    if (outcome < 0)
        PyErr_NoMemory();
    else
        result = Py_BuildValue("nnO", all.found, all.distinct, all.repeats ? Py_True : Py_False);
done:
    let_go(&held);
    return result;
}

/* ---- rows of placements -------------------------------------------------------------------------------------------- */

/* Each row has the number of its query, and may be marked. All give True, or False where a buffer is not what is said here, or
   a number is not that of a query: then nothing that was written counts. Rows of a query stand together. */

static PyObject *
declined(Buffers *held)
{
    PyErr_Clear();
    let_go(held);
    return Py_NewRef(Py_False);
}

static PyObject *
done_with(Buffers *held, int done)
{
    let_go(held);
    return Py_NewRef(done ? Py_True : Py_False);
}

/* count(query, which, out): for each query, how many rows are marked. `out` is zero before. */
static PyObject *
count(PyObject *module, PyObject *args)
{
    Buffers held;
    const int64_t *query;
    const uint8_t *which;
    int64_t *out;
    if (take(&held, args, "r8r1w8", &query, &which, &out) < 0 || held.counts[1] != held.counts[0])
        return declined(&held);
    int64_t size = held.counts[2];
    Py_ssize_t i = 0;
    for (; i < held.counts[0] && query[i] >= 0 && query[i] < size; i++)
        out[query[i]] += which[i] != 0;
    return done_with(&held, i == held.counts[0]);
}

/* cumulate(query, which, out): for each row, how many marked ones its query has up to and including it. */
static PyObject *
cumulate(PyObject *module, PyObject *args)
{
    Buffers held;
    const int64_t *query;
    const uint8_t *which;
    int64_t *out, running = 0;
    if (take(&held, args, "r8r1w8", &query, &which, &out) < 0 || held.counts[1] != held.counts[0] ||
        held.counts[2] != held.counts[0])
        return declined(&held);
    for (Py_ssize_t i = 0; i < held.counts[0]; i++) {
        if (i && query[i] != query[i - 1])
            running = 0;
        out[i] = running += which[i] != 0;
    }
    return done_with(&held, 1);
}

/* first(query, which, rank, out): for each query, the rank of its first marked row. `out` is zero before, and stays so where
   there is none. */
static PyObject *
first(PyObject *module, PyObject *args)
{
    Buffers held;
    const int64_t *query, *rank;
    const uint8_t *which;
    int64_t *out;
    if (take(&held, args, "r8r1r8w8", &query, &which, &rank, &out) < 0 || held.counts[1] != held.counts[0] ||
        held.counts[2] != held.counts[0])
        return declined(&held);
    int64_t size = held.counts[3];
    Py_ssize_t i = 0;
    for (; i < held.counts[0] && query[i] >= 0 && query[i] < size; i++)
        if (which[i] && out[query[i]] == 0)
            out[query[i]] = rank[i];
    return done_with(&held, i == held.counts[0]);
}

/* Whether a buffer has doubles (1) or integers of 64 bits (0); -1 for anything else. */
static int
has_doubles(PyObject *object)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0)
        return -1;
    const char *format = view.format;
    int known = format != NULL && format[0] != 0 && format[1] == 0 && view.itemsize == 8;
    int kind = !known ? -1 : format[0] == 'd' ? 1 : format[0] == 'l' || format[0] == 'q' ? 0 : -1;
    PyBuffer_Release(&view);
    return kind;
}

/* divide(part, whole, out): part / whole as doubles. `out` is zero before, and stays so where whole is 0. */
static PyObject *
divide(PyObject *module, PyObject *args)
{
    Buffers held;
    const void *part, *whole;
    double *out;
    if (take(&held, args, "r8r8w8", &part, &whole, &out) < 0 || held.counts[1] != held.counts[0] ||
        held.counts[2] != held.counts[0])
        return declined(&held);
    int of_part = has_doubles(PyTuple_GetItem(args, 0)), of_whole = has_doubles(PyTuple_GetItem(args, 1));
    if (of_part < 0 || of_whole < 0)
        return declined(&held);
    for (Py_ssize_t i = 0; i < held.counts[0]; i++) {
        double below = of_whole ? ((const double *)whole)[i] : (double)((const int64_t *)whole)[i];
        double above = of_part ? ((const double *)part)[i] : (double)((const int64_t *)part)[i];
        if (below != 0)
            out[i] = above / below;
    }
    return done_with(&held, 1);
}

/* total(values) -> their sum, made from left to right, or None if they are no doubles. */
static PyObject *
total(PyObject *module, PyObject *args)
{
    Buffers held;
    const double *values;
    double sum = 0;
    if (take(&held, args, "r8", &values) < 0 || has_doubles(PyTuple_GetItem(args, 0)) != 1) {
        PyErr_Clear();
        let_go(&held);
        return Py_NewRef(Py_None);
    }
    for (Py_ssize_t i = 0; i < held.counts[0]; i++)
        sum = i ? sum + values[i] : values[i]; /* as it is: -0.0 alone stays what it is */
    let_go(&held);
    return PyFloat_FromDouble(sum);
}

/* ---- the module ------------------------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"lines", lines, METH_VARARGS, "How many line ends there are."},
    {"columns", columns, METH_VARARGS, "Fields, scores, hashes and changes of query of a text table."},
    {"tidy", tidy, METH_VARARGS, "A text table without blank lines and comments, one blank between fields."},
    {"_seed", seed, METH_O, "Where hashes begin."},
    {"hashes", hashes, METH_VARARGS, "The hash of each id."},
    {"integers", integers, METH_VARARGS, "Ids as whole numbers."},
    {"same", same, METH_VARARGS, "Whether ids are equal, pair by pair."},
    {"pack", pack, METH_VARARGS, "The bytes of ids, one after the other."},
    {"texts", texts, METH_VARARGS, "Ids as text."},
    {"rankings", rankings, METH_VARARGS, "The scores of each query's documents as dicts."},
    {"number", number, METH_VARARGS, "Number ids in the order in which they first appear."},
    {"find", find, METH_VARARGS, "The numbers of ids among those known."},
    {"ascend", ascend, METH_VARARGS, "Whether ids are in ascending order."},
    {"arrange", arrange, METH_VARARGS, "The order of lines by query and descending score."},
    {"repeated", repeated, METH_VARARGS, "Whether a key is twice in one stretch."},
    {"survey", survey, METH_VARARGS, "Lines that are probably judged, with their tie groups, among sorted lines."},
    {"among", among, METH_VARARGS, "Ranks of wanted integer ids in a list."},
    {"copied", copied, METH_VARARGS, "A copy of a run that is a dict of dicts, and its scores."},
    {"candidates", candidates, METH_VARARGS, "Number the documents of a list of dicts."},
    {"judgements", judgements, METH_VARARGS, "A copy of judgements that are a dict of dicts."},
    {"grades", grades, METH_VARARGS, "The grades of a list of dicts."},
    {"place", place, METH_VARARGS, "Ranks of judged documents in a run that is a dict of dicts."},
    {"count", count, METH_VARARGS, "Marked rows of each query."},
    {"cumulate", cumulate, METH_VARARGS, "Marked rows of its query up to each row."},
    {"first", first, METH_VARARGS, "The rank of the first marked row of each query."},
    {"total", total, METH_VARARGS, "A sum from left to right."},
    {"divide", divide, METH_VARARGS, "Quotients, 0 where the divisor is."},
    {NULL, NULL, 0, NULL},
};

static int
add_constants(PyObject *module)
{
    /* glibc hands memory that is freed at the end of the heap back to the system, unless a larger block was freed before, and the
       next copy of a run would take it again page by page. This block is never touched. */
    void *volatile block = malloc((size_t)31 << 20);
    free(block);
    if (PyModule_AddStringConstant(module, "MAKE", "compiled core") < 0)
        return -1;
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
