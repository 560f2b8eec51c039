/*
 * co/entry_x86_64.S - the first frame of a context, x86-64.  The switch itself: co.h.
 *
 * The stack holds the argument and the function; above them it is aligned as for a call.  This
 * frame is marked as having no caller, so backtraces end here.
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
         * A call without a call instruction: the function does not return, and a real call would
         * leave its address in the processor's return predictor.
         */
        leaq    1f(%rip), %rcx
        pushq   %rcx
        notrack jmp *%rax
        nop
1:      ud2
        .cfi_endproc
        .size   ed_co_entry_asm, . - ed_co_entry_asm

/*
 * int name(from, to, failed): the switch of ed_co_jump(), and then a return by a jump.  The frame
 * has the same layout as a C function's, so that stack walkers find the caller.  After the switch
 * back, rsi holds 'from', since that is then the context to go to.  The context's saved fields
 * usually have these values already.  Comparing is cheaper than storing: the next load then does
 * not wait for a store.
 */
.macro  LEAVE name
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 5
\name:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        pushq   %rbx
        .cfi_offset rbx, -24
        pushq   %r12
        .cfi_offset r12, -32
        pushq   %r13
        .cfi_offset r13, -40
        pushq   %r14
        .cfi_offset r14, -48
        pushq   %r15
        .cfi_offset r15, -56
        pushq   %rdx
        leaq    1f(%rip), %rax
        cmpq    %rsp, 0(%rdi)
        jne     3f
        cmpq    %rax, 16(%rdi)
        jne     3f
4:      movq    0(%rsi), %rsp
        movq    8(%rsi), %rbp
        notrack jmp *16(%rsi)
3:      movq    %rsp, 0(%rdi)
        movq    %rbp, 8(%rdi)
        movq    %rax, 16(%rdi)
        jmp     4b
1:      popq    %rcx
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        .cfi_restore rbx
        .cfi_restore r12
        .cfi_restore r13
        .cfi_restore r14
        .cfi_restore r15
        movl    32(%rsi), %eax          /* ED_CO_RESULT */
        testl   %eax, %eax
        js      2f
        popq    %rdx
        .cfi_def_cfa_offset 0
        .cfi_register rip, rdx
        notrack jmp *%rdx
2:
        .cfi_def_cfa_offset 8
        .cfi_offset rip, -8
        movl    %eax, %edi
        notrack jmp *%rcx
        .cfi_endproc
        .size   \name, . - \name
.endm

        /* In the same section as the functions that end in it. */
        .section .text.hot, "ax", @progbits
        LEAVE   ed_co_leave_ask_asm
        LEAVE   ed_co_leave_answer_asm

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
