// The data of a packaged build. A linker takes a symbol from an object before it looks for it in a library.
#ifdef BILLOW_ICU_DATA
#include BILLOW_ICU_DATA
#endif
#if defined(__ELF__)
.section .note.GNU-stack, "", %progbits
#endif
