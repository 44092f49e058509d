"""Has the collector look at all objects after each few of them."""
import gc


class Node:
    def __init__(self, parent):
        self.parent = parent
        self.children = []


def grow(kept, count):
    for _ in range(count):
        node = Node(kept[-1] if kept else None)
        kept.append(node)
        if node.parent is not None:
            node.parent.children.append(node)


def main():
    kept = []
    for _ in range(60):
        grow(kept, 1000)
        gc.collect()  # the line


main()
