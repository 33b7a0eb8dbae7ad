#ifndef BILLOW_CECCODES_SHIM_H
#define BILLOW_CECCODES_SHIM_H

#include <eccodes.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// ecCodes writes its complaints to stderr, and ends the process where an assertion of its own fails. Here the first
// complaint is kept as the call's message, and a failed assertion jumps out of the call that met it. Everything below
// is for one thread at a time, and for one module: its state is static.

enum { BILLOW_CODES_TEXT = 240, BILLOW_CODES_ASSERTION = -10000 };

typedef struct {
    /// The first complaint since `billow_codes_forget`.
    char text[BILLOW_CODES_TEXT];
    /// Where a failed assertion goes on; NULL for nowhere.
    jmp_buf *escape;
} BillowCodesState;

/// Within a function: Swift compiles those of a header, but not its variables.
static inline BillowCodesState *billow_codes_state(void) {
    static BillowCodesState state;
    return &state;
}

static inline void billow_codes_note(const char *text) {
    BillowCodesState *state = billow_codes_state();
    if (state->text[0] || !text) return;
    strncpy(state->text, text, BILLOW_CODES_TEXT - 1);
    state->text[BILLOW_CODES_TEXT - 1] = 0;
}

static inline void billow_codes_log(const codes_context *context, int level, const char *text) {
    (void)context;
    if (level == CODES_LOG_ERROR || level == CODES_LOG_FATAL) billow_codes_note(text);
}

static inline void billow_codes_assert(const char *text) {
    billow_codes_note(text);
    if (!billow_codes_state()->escape) abort();
    longjmp(*billow_codes_state()->escape, 1);
}

/// Before the first call of the library.
static inline void billow_codes_install(void) {
    codes_context_set_logging_proc(codes_context_get_default(), billow_codes_log);
    codes_set_codes_assertion_failed_proc(billow_codes_assert);
}

/// What the library complained of first since the last `billow_codes_forget`; empty for nothing.
static inline const char *billow_codes_complaint(void) { return billow_codes_state()->text; }

static inline void billow_codes_forget(void) { billow_codes_state()->text[0] = 0; }

/// The message's values, exactly `count` of them, into `values`; `missing` stands for those that the packing calls
/// missing. ecCodes' code, 0 for success. The handle is freed whatever happens, except behind a failed assertion, where
/// nothing is known of its state: it is left.
static inline int billow_codes_values(const void *message, size_t bytes, double missing, double *values, size_t count) {
    jmp_buf escape;
    codes_handle *volatile handle = NULL;
    volatile int result = 0;
    billow_codes_forget();
    billow_codes_state()->escape = &escape;
    if (setjmp(escape)) {
        billow_codes_state()->escape = NULL;
        return BILLOW_CODES_ASSERTION;
    }
    handle = codes_handle_new_from_message(NULL, message, bytes);
    if (!handle) {
        billow_codes_state()->escape = NULL;
        return CODES_INVALID_MESSAGE;
    }
    result = codes_set_double(handle, "missingValue", missing);
    if (!result) {
        size_t found = 0;
        result = codes_get_size(handle, "values", &found);
        if (!result && found != count) result = CODES_WRONG_ARRAY_SIZE;
        if (!result) {
            result = codes_get_double_array(handle, "values", values, &found);
            if (!result && found != count) result = CODES_WRONG_ARRAY_SIZE;
        }
    }
    codes_handle_delete(handle);
    billow_codes_state()->escape = NULL;
    return result;
}

/// Packs values into the message of a handle: ecCodes' code, 0 for success. Behind a failed assertion the handle must
/// not be used any more: it is left.
static inline int billow_codes_pack(codes_handle *handle, const double *values, size_t count) {
    jmp_buf escape;
    billow_codes_state()->escape = &escape;
    if (setjmp(escape)) {
        billow_codes_state()->escape = NULL;
        return BILLOW_CODES_ASSERTION;
    }
    int result = codes_set_double_array(handle, "values", values, count);
    billow_codes_state()->escape = NULL;
    return result;
}

#endif
