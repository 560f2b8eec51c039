module bench/redis_go

go 1.19
