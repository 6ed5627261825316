/** Convex polygons: turned and moved, held against each other, and brought together where they are near. */

/** @typedef {[number, number]} Point */

/**
 * Where a piece lies: its centre, and how far it is turned clockwise, in degrees.
 * @typedef {{ x: number, y: number, rotation: number }} Pose
 */

const TOLERANCE = 0.009; // deeper than this, and two overlap

/**
 * The corners of a shape in a pose, y upwards.
 * @param {Point[]} shape around its centre
 * @param {Pose} pose
 * @param {Point} scale it is turned before it is scaled
 * @returns {Point[]}
 */
export function placed(shape, pose, scale) {
  const angle = (pose.rotation * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return shape.map(([x, y]) => [pose.x + scale[0] * (x * cos + y * sin), pose.y + scale[1] * (y * cos - x * sin)]);
}

/**
 * @param {Point[]} a
 * @param {Point[]} b
 */
export function overlap(a, b) {
  return depth(a, b) > TOLERANCE && depth(b, a) > TOLERANCE;
}

/**
 * How deep `b` reaches over the edge of `a` that it reaches over least; negative: they are apart.
 * @param {Point[]} a counter-clockwise
 * @param {Point[]} b
 */
function depth(a, b) {
  const edges = sides(a).map(([from, to]) => Math.max(...b.map((point) => -beyond(from, to, point))));
  return Math.min(...edges);
}

/**
 * @param {Point[]} ring
 * @returns {[Point, Point][]}
 */
export function sides(ring) {
  return ring.map((point, i) => [point, /** @type {Point} */ (ring[(i + 1) % ring.length])]);
}

/**
 * Whether a polygon lies in a figure, but for a little at its border. Points of it are looked at.
 * @param {Point[]} polygon convex
 * @param {Point[][]} rings
 */
export function inFigure(polygon, rings) {
  const edges = rings.flatMap(sides);
  const [x, y] = polygon.reduce((sum, one) => [sum[0] + one[0], sum[1] + one[1]]).map((sum) => sum / polygon.length);
  const [middleX, middleY] = [x ?? 0, y ?? 0];
  return sides(polygon).every(([[ax, ay], [bx, by]]) =>
    [0, 1, 2, 3, 4, 5, 6, 7].every((eighth) =>
      [0.96, 0.6, 0.3].every((share) => {
        const [dx, dy] = [ax + ((bx - ax) * eighth) / 8 - middleX, ay + ((by - ay) * eighth) / 8 - middleY];
        return enclosed(edges, middleX + share * dx, middleY + share * dy);
      }),
    ),
  );
}

/** @param {[Point, Point][]} edges @param {number} x @param {number} y */
function enclosed(edges, x, y) {
  const right = edges.filter(
    ([[ax, ay], [bx, by]]) => ay > y !== by > y && x < ax + ((bx - ax) * (y - ay)) / (by - ay),
  );
  return right.length % 2 === 1;
}

/**
 * How far a point lies to the right of the line from one point to another.
 * @param {Point} from
 * @param {Point} to
 * @param {Point} point
 */
function beyond([ax, ay], [bx, by], [x, y]) {
  return ((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / Math.hypot(bx - ax, by - ay);
}

/**
 * The ways to move a polygon so that it comes to lie corner to corner, or corner to edge, with others near it.
 * @param {Point[]} polygon
 * @param {[Point, Point][]} others edges
 * @param {number} near how far it may be moved
 * @returns {{ by: Point, far: number, corners: boolean }[]}
 */
export function pulls(polygon, others, near) {
  const own = sides(polygon);
  /** @type {{ by: Point, far: number, corners: boolean }[]} */
  const found = [];
  /** @type {(by: Point, corners: boolean) => void} */
  const note = (by, corners) => {
    const far = Math.hypot(...by);
    if (far <= near) found.push({ by, far, corners });
  };
  for (const [from, to] of others) {
    for (const [corner] of own) {
      note([from[0] - corner[0], from[1] - corner[1]], true);
      note(across(from, to, corner), false);
    }
    for (const [start, end] of own) {
      const [x, y] = across(start, end, from);
      note([-x, -y], false);
    }
  }
  return found;
}

/**
 * The way from a point to an edge, square to it; far away where it meets the edge's line beyond its ends.
 * @param {Point} from
 * @param {Point} to
 * @param {Point} point
 * @returns {Point}
 */
function across([ax, ay], [bx, by], [x, y]) {
  const [right, up] = [bx - ax, by - ay];
  const along = ((x - ax) * right + (y - ay) * up) / (right * right + up * up);
  return along < 0 || along > 1 ? [Infinity, 0] : [ax + along * right - x, ay + along * up - y];
}
