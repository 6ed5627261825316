extends Reference
# One game: the pieces, whose turn it is, what collides. Geometry decides, as the physics of the real game does.

const Pieces = preload("pieces.gd")

var objective
var margin  # pixels that pieces need between them; 0: they may touch
var poses = {}  # name: [position, rotation] of the pieces on the board
var moved = ""  # by the agent in this turn
var before = null  # its pose before, null from the drawer
var undone = 0

func _init(text, pixels):
	objective = text
	margin = pixels

func polygon(shape):
	return Pieces.polygon(shape, poses[shape][0], poses[shape][1])

func collisions(shape):
	var own = polygon(shape)
	var found = []
	for other in poses:
		if other != shape and _touch(own, polygon(other)):
			found.append(other)
	for point in own:
		if not Rect2(Vector2(), Pieces.BOARD).grow(0.01).has_point(point):
			found.append("BOUNDARY")
			break
	return found

func _touch(one, other):
	if margin > 0:
		return _common(Geometry.offset_polygon_2d(one, margin)[0], other) > 0
	return _common(one, other) > 1  # square pixels

func _common(one, other):
	var sum = 0.0
	for part in Geometry.intersect_polygons_2d(one, other):
		sum += Pieces.area(part)
	return sum

func put(shape, position, rotation):
	if moved != "" and shape != moved:
		put_back()
	if moved == "":
		before = poses.get(shape)
		moved = shape
	poses[shape] = [position, rotation]

func put_back():
	if before == null:
		poses.erase(moved)
	else:
		poses[moved] = before
	moved = ""

func finish():
	if moved != "" and collisions(moved):
		put_back()
		undone += 1
	moved = ""

# As the real game tells it: a Vector2 becomes text when JSON is written.
func state():
	var on_board = {}
	var off_board = {}
	for shape in Pieces.SHAPES:
		if poses.has(shape):
			var vertices = []
			for point in polygon(shape):
				vertices.append(Pieces.board_units(point))
			on_board[shape] = {
				"position": {
					"position": Pieces.reported(shape, poses[shape][0], poses[shape][1]),
					"vertices": vertices,
				},
				"rotation": poses[shape][1],
				"collisions": collisions(shape),
			}
		else:
			off_board[shape] = {"rotation": 0}
	return {"on_board": on_board, "off_board": off_board}
