select count(*) as slices, sum(dur) as total from slice;
