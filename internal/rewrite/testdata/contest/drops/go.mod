module drops

go 1.24
