module bench/core_go

go 1.19
