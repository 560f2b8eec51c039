module bench/batch_go

go 1.19
