#include "textflag.h"

// func cloneChroot(flags, stack, root, from, to, dot uintptr) uintptr
TEXT ·cloneChroot(SB), NOSPLIT, $0-56
	MOVQ flags+0(FP), DI
	MOVQ stack+8(FP), SI
	MOVQ SI, R13
	MOVQ root+16(FP), R12
	MOVQ from+24(FP), R14
	MOVQ to+32(FP), R9
	MOVQ dot+40(FP), R15
	MOVQ $0, DX
	MOVQ $0, R10
	MOVQ $0, R8
	MOVQ $56, AX  // clone
	SYSCALL
	CMPQ AX, $0
	JEQ  child
	MOVQ AX, ret+48(FP)
	RET

child: // the new process shares the memory and does not use a stack
	MOVQ R9, DI
	MOVQ $3, AX   // close; this process then ends when the other process ends
	SYSCALL
	MOVQ R14, DI
	MOVQ R13, SI
	MOVQ $1, DX
	MOVQ $0, AX   // read
	SYSCALL
	CMPQ AX, $1
	JNE  failed
	MOVQ R12, DI
	MOVQ $81, AX  // fchdir
	SYSCALL
	CMPQ AX, $0
	JNE  failed
	MOVQ R15, DI
	MOVQ $161, AX // chroot
	SYSCALL
	CMPQ AX, $0
	JNE  failed
	MOVQ $0, DI
	JMP  exit

failed:
	MOVQ $1, DI

exit:
	MOVQ $231, AX // exit_group
	SYSCALL
	JMP  exit
