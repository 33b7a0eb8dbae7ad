// BillowStore
