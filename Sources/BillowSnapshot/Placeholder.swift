// BillowSnapshot
