// BillowSync
