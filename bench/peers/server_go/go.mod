module bench/server_go

go 1.19
