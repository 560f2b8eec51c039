module bench/process_go

go 1.19
