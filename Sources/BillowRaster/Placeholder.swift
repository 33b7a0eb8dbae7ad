// BillowRaster
