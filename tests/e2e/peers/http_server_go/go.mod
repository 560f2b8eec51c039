module tests/http_server_go

go 1.19
