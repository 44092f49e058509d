# A shell computes.
i=0
while [ $i -lt 400000 ]; do i=$((i + 1)); done
