module bench/pg_go

go 1.19
