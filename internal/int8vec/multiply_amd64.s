#include "textflag.h"

// func multiplyAVX2(products []int32, vectors []int8, query []int16)
TEXT ·multiplyAVX2(SB), NOSPLIT, $0-72
	MOVQ products_base+0(FP), DI
	MOVQ products_len+8(FP), R8
	MOVQ vectors_base+24(FP), SI
	MOVQ query_base+48(FP), DX
	MOVQ query_len+56(FP), CX

vector:
	TESTQ R8, R8
	JE    done
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	XORQ  AX, AX

block: // 32 elements: bytes are extended to 16 bits, multiplied, and added in pairs
	VPMOVSXBW (SI)(AX*1), Y2
	VPMOVSXBW 16(SI)(AX*1), Y3
	VPMADDWD  (DX)(AX*2), Y2, Y2
	VPMADDWD  32(DX)(AX*2), Y3, Y3
	VPADDD    Y2, Y0, Y0
	VPADDD    Y3, Y1, Y1
	ADDQ      $32, AX
	CMPQ      AX, CX
	JLT       block

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (DI)
	ADDQ         $4, DI
	ADDQ         CX, SI
	DECQ         R8
	JMP          vector

done:
	VZEROUPPER
	RET
