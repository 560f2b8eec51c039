module bench/idle_go

go 1.19
