"""How far is it along roads?  Hub labels, by pruned landmark labelling.

start  int64[N + 1]  node n has the roads start[n]:start[n + 1]
to     int32[R]      where a road leads; each road is there twice, once for each way
length float64[R]

first  int64[N + 1]  node n has the labels first[n]:first[n + 1]
hub    int32[L]      ranks of hubs, ascending; each pair of nodes that a way connects has a
                     common one on a shortest way
far    float64[L]    how far the hub is

spots  float64[N, 3] where nodes are in space, by the first coordinate
number int32[N]      the node at a place of that order
"""

import numpy as np
from numba import njit

from nearcast.inner import inner

UNREACHED = np.inf


@inner
def push(cost, place, size, value, node):
    """Onto a heap of `size`: its new size.  O(log size)."""
    at = size
    while at > 0 and cost[(at - 1) >> 1] > value:
        cost[at], place[at] = cost[(at - 1) >> 1], place[(at - 1) >> 1]
        at = (at - 1) >> 1
    cost[at], place[at] = value, node
    return size + 1


@inner
def pop(cost, place, size):
    """The first of a heap of `size` + 1 is taken off.  O(log size)."""
    value, node, at = cost[size], place[size], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and cost[child + 1] < cost[child]:
            child += 1
        if cost[child] >= value:
            break
        cost[at], place[at] = cost[child], place[child]
        at = child
    cost[at], place[at] = value, node


@njit(cache=True, nogil=True)
def times_between(start, to, length, sources):
    """How often each node lies on shortest ways from some sources to everywhere.

    The sizes of subtrees of shortest-path trees, added up.  O(sources x R log R).
    """
    nodes = len(start) - 1
    times = np.zeros(nodes, np.int64)
    best, before, below = np.empty(nodes), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    cost, place = np.empty(len(to) + 1), np.empty(len(to) + 1, np.int64)
    settled = np.empty(nodes, np.int64)
    for source in sources:
        best[:] = UNREACHED
        best[source], before[source] = 0.0, -1
        size, count = push(cost, place, 0, 0.0, np.int64(source)), 0
        while size > 0:
            here, so_far = place[0], cost[0]
            size -= 1
            pop(cost, place, size)
            if so_far > best[here]:
                continue
            settled[count] = here
            count += 1
            below[here] = 1
            for road in range(start[here], start[here + 1]):
                there, total = np.int64(to[road]), so_far + length[road]
                if total < best[there]:
                    best[there], before[there] = total, here
                    size = push(cost, place, size, total, there)
        for n in range(count - 1, 0, -1):
            below[before[settled[n]]] += below[settled[n]]
            times[settled[n]] += below[settled[n]]
    return times


@njit(cache=True, nogil=True)
def hub_labels(start, to, length, order):
    """`first`, `hub`, `far`, where order[rank] is the node that is the hub of that rank.

    From each hub, in turn, all ways that earlier hubs do not know as well: nodes that they do are
    not gone beyond.  O(L log N), times the size of a label.
    """
    nodes = len(start) - 1
    head = np.full(nodes, -1, np.int64)  # labels of a node, the latest first
    following, hub, far = np.empty(1024, np.int64), np.empty(1024, np.int32), np.empty(1024)
    labels = 0
    known = np.full(nodes, UNREACHED)  # by rank: how far the hub is from the present one
    best = np.full(nodes, UNREACHED)
    touched = np.empty(nodes, np.int64)
    cost, place = np.empty(len(to) + 1), np.empty(len(to) + 1, np.int64)
    for rank in range(nodes):
        source = np.int64(order[rank])
        at = head[source]
        while at >= 0:
            known[hub[at]] = far[at]
            at = following[at]
        best[source], touched[0], count = 0.0, source, 1
        size = push(cost, place, 0, 0.0, source)
        while size > 0:
            here, so_far = place[0], cost[0]
            size -= 1
            pop(cost, place, size)
            if so_far > best[here]:
                continue
            is_known, at = False, head[here]
            while at >= 0 and not is_known:
                is_known = known[hub[at]] + far[at] <= so_far
                at = following[at]
            if is_known:
                continue
            if labels == len(hub):
                following = np.concatenate((following, following))
                hub, far = np.concatenate((hub, hub)), np.concatenate((far, far))
            following[labels], hub[labels], far[labels] = head[here], rank, so_far
            head[here] = labels
            labels += 1
            for road in range(start[here], start[here + 1]):
                there, total = np.int64(to[road]), so_far + length[road]
                if total < best[there]:
                    if best[there] == UNREACHED:
                        touched[count] = there
                        count += 1
                    best[there] = total
                    size = push(cost, place, size, total, there)
        for n in range(count):
            best[touched[n]] = UNREACHED
        at = head[source]
        while at >= 0:
            known[hub[at]] = UNREACHED
            at = following[at]
    return in_order(head, following, hub, far, labels)


@inner
def in_order(head, following, hub, far, labels):
    """The labels of each node side by side, hubs ascending."""
    first = np.zeros(len(head) + 1, np.int64)
    hubs, fars = np.empty(labels, np.int32), np.empty(labels)
    end = 0
    for node in range(len(head)):
        count, at = 0, head[node]
        while at >= 0:
            count += 1
            at = following[at]
        end += count
        first[node + 1] = end
        at = head[node]
        for n in range(count):
            hubs[end - 1 - n], fars[end - 1 - n] = hub[at], far[at]
            at = following[at]
    return first, hubs, fars


@njit(cache=True, nogil=True)
def nearest_nodes(spots, number, at):
    """Of each spot `at` the nearest node, of several the one of the lowest number.

    O(log N + nodes that are as near by the first coordinate).
    """
    found = np.empty(len(at), np.int64)
    for n in range(len(at)):
        x, y, z = at[n, 0], at[n, 1], at[n, 2]
        right = np.searchsorted(spots[:, 0], x)
        left, best, nearest = right - 1, np.inf, np.int64(-1)
        while True:
            to_left = x - spots[left, 0] if left >= 0 else np.inf
            to_right = spots[right, 0] - x if right < len(spots) else np.inf
            step = min(to_left, to_right)
            if step == np.inf or step * step > best:
                break
            place = left if to_left <= to_right else right
            dx, dy, dz = spots[place, 0] - x, spots[place, 1] - y, spots[place, 2] - z
            square = dx * dx + dy * dy + dz * dz
            if square < best or (square == best and number[place] < nearest):
                best, nearest = square, np.int64(number[place])
            if to_left <= to_right:
                left -= 1
            else:
                right += 1
        found[n] = nearest
    return found
