/*
 * co/switch_aarch64.S - the context switch for AArch64, AAPCS64.
 *
 * void ed_co_switch_asm(void **save_sp, void *sp)
 *
 * A suspended context's stack, from its saved stack pointer up:
 *     x19 x20 ... x29 x30 d8 ... d15; x30 is the resume address.
 */
        .text
        .globl  ed_co_switch_asm
        .hidden ed_co_switch_asm
        .type   ed_co_switch_asm, %function
        .p2align 4
ed_co_switch_asm:
        .cfi_startproc
        hint    #34                     /* bti c */
        sub     sp, sp, #160
        .cfi_def_cfa_offset 160
        stp     x19, x20, [sp, #0]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        .cfi_offset x19, -160
        .cfi_offset x20, -152
        .cfi_offset x21, -144
        .cfi_offset x22, -136
        .cfi_offset x23, -128
        .cfi_offset x24, -120
        .cfi_offset x25, -112
        .cfi_offset x26, -104
        .cfi_offset x27, -96
        .cfi_offset x28, -88
        .cfi_offset x29, -80
        .cfi_offset x30, -72
        mov     x9, sp
        str     x9, [x0]
        mov     sp, x1
        ldp     x19, x20, [sp, #0]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        add     sp, sp, #160
        .cfi_def_cfa_offset 0
        .cfi_restore x19
        .cfi_restore x20
        .cfi_restore x21
        .cfi_restore x22
        .cfi_restore x23
        .cfi_restore x24
        .cfi_restore x25
        .cfi_restore x26
        .cfi_restore x27
        .cfi_restore x28
        .cfi_restore x29
        .cfi_restore x30
        /* x16: a jump through it may land on a bti c or in the middle of a caller. */
        mov     x16, x30
        br      x16
        .cfi_endproc
        .size   ed_co_switch_asm, . - ed_co_switch_asm

/*
 * The first frame of a context: x19 holds the function, x20 its argument.
 * It has no caller, and says so: backtraces end here.
 */
        .globl  ed_co_entry_asm
        .hidden ed_co_entry_asm
        .type   ed_co_entry_asm, %function
        .p2align 4
ed_co_entry_asm:
        .cfi_startproc
        .cfi_undefined x30
        .cfi_undefined x29
        hint    #36                     /* bti j */
        mov     x29, #0
        mov     x30, #0
        mov     x0, x20
        blr     x19
        brk     #1
        .cfi_endproc
        .size   ed_co_entry_asm, . - ed_co_entry_asm

        .section .note.GNU-stack, "", %progbits
