module bench/http_go

go 1.19
