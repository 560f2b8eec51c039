/*
 * co/entry_aarch64.S - the first frame of a context, AArch64.  The switch itself: co.h.
 *
 * The stack holds the argument and the function; above them it is aligned.  This frame is marked as
 * having no caller, so backtraces end here.
 */
        .text
        .globl  ed_co_entry_asm
        .hidden ed_co_entry_asm
        .type   ed_co_entry_asm, %function
        .p2align 4
ed_co_entry_asm:
        .cfi_startproc
        .cfi_undefined x30
        .cfi_undefined x29
        hint    #36                     /* bti j */
        ldp     x0, x9, [sp], #16
        mov     x29, #0
        /*
         * A call without a call instruction: the function does not return, and a real call would
         * leave its address in the processor's return predictor.
         */
        adr     x30, 1f
        mov     x16, x9
        br      x16
        nop
1:      brk     #1
        .cfi_endproc
        .size   ed_co_entry_asm, . - ed_co_entry_asm

        .section .note.GNU-stack, "", %progbits
