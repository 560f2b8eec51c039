module tests/http_stray_go

go 1.19
