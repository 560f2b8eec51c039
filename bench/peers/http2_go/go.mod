module bench/http2_go

go 1.19
