module bench/tls_go

go 1.19
