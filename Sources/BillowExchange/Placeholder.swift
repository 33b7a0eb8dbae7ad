// BillowExchange
