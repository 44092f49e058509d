"""scikit-learn computes."""
# needs sklearn
import time

from sklearn.tree import DecisionTreeRegressor

POINTS = [[(each * 37 + column * 101) % 997 for column in range(8)] for each in range(4000)]
VALUES = [(each * 61) % 499 for each in range(4000)]


def learn():
    return DecisionTreeRegressor(random_state=1).fit(POINTS, VALUES)  # the line


if __name__ == "__main__":
    begin = time.process_time()
    # Longer than the import, which computes as well.
    while time.process_time() - begin < 4 * max(begin, 0.5):
        learn()
