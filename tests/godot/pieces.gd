extends Reference
# The pieces as the scene of the real game has them: scene units, y down, rotation 0.

const SHAPES = {
	"Red": [Vector2(0, -64), Vector2(128, 64), Vector2(-128, 64)],
	"Cream": [Vector2(0, -64), Vector2(-128, 64), Vector2(128, 64)],
	"Purple": [Vector2(45.25, 45.25), Vector2(45.25, -45.25), Vector2(-45.25, -45.25), Vector2(-45.25, 45.25)],
	"Brown": [Vector2(-32, -32), Vector2(96, -32), Vector2(32, 32), Vector2(-96, 32)],
	"Blue": [Vector2(45.25, -90.5), Vector2(-45.25, 0), Vector2(45.25, 90.5)],
	"Yellow": [Vector2(0, -40), Vector2(-64, 24), Vector2(64, 24)],
	"Green": [Vector2(0, -32), Vector2(-64, 32), Vector2(64, 32)],
}
const VCENTER = {"Red": Vector2(-0.625, 10), "Cream": Vector2(0, 8.125), "Blue": Vector2(7.51301, 3.09359)}
const SCENE = 0.4  # pixels per scene unit
const BOARD = Vector2(337, 322)  # pixels; 100 board units on both axes

# The polygon of a piece in pixels, y down.
static func polygon(shape, position, rotation):
	var points = PoolVector2Array()
	var centre = Vector2(position.x, 100 - position.y) * BOARD / 100
	for corner in SHAPES[shape]:
		points.append(centre + corner.rotated(deg2rad(rotation)) * SCENE)
	return points

# The point that the game reports of a piece, in board units: its marker VCenter, at its origin where it has no offset.
static func reported(shape, position, rotation):
	var offset = VCENTER.get(shape, Vector2()).rotated(deg2rad(rotation)) * SCENE
	return position + Vector2(offset.x / BOARD.x, -offset.y / BOARD.y) * 100

# Pixels to board units, y up.
static func board_units(point):
	return Vector2(point.x / BOARD.x, 1 - point.y / BOARD.y) * 100

static func area(points):
	var twice = 0.0
	for i in points.size():
		twice += points[i].cross(points[(i + 1) % points.size()])
	return abs(twice) / 2
