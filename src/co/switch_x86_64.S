/*
 * co/switch_x86_64.S - the context switch for x86-64, System V ABI.
 *
 * void ed_co_switch_asm(void **save_sp, void *sp)
 *
 * A suspended context's stack, from its saved stack pointer up:
 *     r15 r14 r13 r12 rbx rbp  resume-address
 */
        .text
        .globl  ed_co_switch_asm
        .hidden ed_co_switch_asm
        .type   ed_co_switch_asm, @function
        .p2align 4
ed_co_switch_asm:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register rip, rcx
        notrack jmp *%rcx
        .cfi_endproc
        .size   ed_co_switch_asm, . - ed_co_switch_asm

/*
 * The first frame of a context: r12 holds the function, r13 its argument.
 * It has no caller, and says so: backtraces end here.
 */
        .globl  ed_co_entry_asm
        .hidden ed_co_entry_asm
        .type   ed_co_entry_asm, @function
        .p2align 4
ed_co_entry_asm:
        .cfi_startproc
        .cfi_undefined rip
        .cfi_undefined rbp
        endbr64
        xorl    %ebp, %ebp
        movq    %r13, %rdi
        callq   *%r12
        ud2
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
