/*
 * co/entry_x86_64.S - the first frame of a context, x86-64.
 *
 * The stack holds the argument and the function; behind them calls find it
 * aligned.  This frame has no caller, and says so: backtraces end here.
 */
        .text
        .globl  ed_co_entry_asm
        .hidden ed_co_entry_asm
        .type   ed_co_entry_asm, @function
        .p2align 4
ed_co_entry_asm:
        .cfi_startproc
        .cfi_undefined rip
        .cfi_undefined rbp
        endbr64
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        popq    %rax
        .cfi_adjust_cfa_offset -8
        xorl    %ebp, %ebp
        /*
         * The call by hand: the function does not return, and a real call
         * would leave its address with the processor's return predictor.
         */
        leaq    1f(%rip), %rcx
        pushq   %rcx
        notrack jmp *%rax
        nop
1:      ud2
        .cfi_endproc
        .size   ed_co_entry_asm, . - ed_co_entry_asm

/* Compatible with indirect branch tracking (IBT); shadow stacks are not claimed. */
        .section .note.gnu.property, "a"
        .p2align 3
        .long   4
        .long   16
        .long   5
        .string "GNU"
        .long   0xc0000002
        .long   4
        .long   1
        .long   0

        .section .note.GNU-stack, "", @progbits
