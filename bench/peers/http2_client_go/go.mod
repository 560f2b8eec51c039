module bench/http2_client_go

go 1.19
