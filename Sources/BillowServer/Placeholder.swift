// BillowServer
