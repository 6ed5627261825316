extends SceneTree
# Plays several games against an agent at TANGRAM_URL, a scripted person in between, and prints what came of them.

const Game = preload("game.gd")
const Pieces = preload("pieces.gd")

const GAMES = [["A house", 0.0], ["A cat", 0.0], ["A lighthouse on a rock", 0.0], ["A fish", 0.4]]  # the last: margin
const TURNS = 14
const PATIENCE = 20.0  # seconds

var client = WebSocketClient.new()
var number = -1
var game
var turn = 0
var waiting = 0.0
var counts = {"plays": 0, "finishes": 0, "chats": 0, "asked": 0, "errors": 0, "nudged": 0}

func _init():
	client.connect("connection_established", self, "_opened")
	client.connect("connection_closed", self, "_lost")
	client.connect("connection_error", self, "_lost", [false])
	client.connect("data_received", self, "_received")
	client.set_buffers(4096, 1024, 64, 1024)  # KiB in, packets, KiB out of the agent, packets: see below
	_check(client.connect_to_url(OS.get_environment("TANGRAM_URL")) == OK, "the address is no address")

func _idle(delta):
	client.poll()
	waiting += delta
	_check(waiting < PATIENCE, "the agent does not answer")

func _opened(_protocol):
	client.get_peer(1).set_write_mode(WebSocketPeer.WRITE_MODE_TEXT)
	_next_game()

func _lost(_clean):
	_check(false, "the connection was lost")

func _next_game():
	number += 1
	turn = 0
	if number == GAMES.size():
		print("GAMES OVER %d %s" % [number, JSON.print(counts)])
		quit()
		return
	game = Game.new(GAMES[number][0], GAMES[number][1])
	_person()

# The person: moves one piece, and now and then says something.
func _person():
	match turn:
		0:
			if number == 1:
				_move("Red", Vector2(37.5, 56.25), 3)  # the person begins, and is not exact
		1: _move("Purple", Vector2(10, 10), 45)
		3: _move("Purple", Vector2(12, 88), 30)
		5:
			var names = game.poses.keys()
			_move(names[0], Vector2(88, 88), 12.5)  # somebody's piece, out of the figure
	if turn == 2:
		counts["asked"] += 1
		_send({"type": "chatRequest", "message": "Shall I take the “square”?"})
	_send({"type": "playRequest"})

func _move(shape, position, rotation):
	var kept = game.poses.get(shape)
	game.poses[shape] = [position, rotation]
	if game.collisions(shape):
		game.poses.erase(shape)
		if kept != null:
			game.poses[shape] = kept

func _send(message):
	message["objective"] = game.objective
	message["state"] = game.state()
	message["board_img"] = "iVBORw0KGgo=".repeat(2000)  # nobody should look at it
	message["drawer_img"] = "not an image"
	message["timestamp"] = OS.get_ticks_msec() / 1000.0
	client.get_peer(1).put_packet(JSON.print(message).to_utf8())
	waiting = 0.0

func _received():
	var text = client.get_peer(1).get_packet().get_string_from_utf8()
	_check(text.length() < 1000, "a reply of %d characters" % text.length())
	var parsed = JSON.parse(text)
	_check(parsed.error == OK and parsed.result is Dictionary, "no JSON: " + text)
	var message = parsed.result
	_check(message.get("timestamp") is String, "no timestamp: " + text)
	match message.get("type"):
		"play": _play(message)
		"finish": _finish()
		"chat":
			_check(message.get("message") is String, "no words: " + text)
			counts["chats"] += 1
		_: _refuse(text)

func _play(message):
	var shape = message.get("shape")
	var position = message.get("position")
	var fine = Pieces.SHAPES.has(shape) and position is Array and position.size() == 2
	if not (fine and position[0] is float and position[1] is float and message.get("rotation") is float):
		_refuse(JSON.print(message))
		return
	counts["plays"] += 1
	if shape == game.moved:
		counts["nudged"] += 1
	game.put(shape, Vector2(position[0], position[1]), message["rotation"])
	_send({"type": "playFeedback"})

func _finish():
	counts["finishes"] += 1
	game.finish()
	turn += 1
	if turn < TURNS and not _complete():
		_person()
		return
	var collided = 0
	for shape in game.poses:
		collided += game.collisions(shape).size()
	print("GAME %s turns=%d on_board=%d collided=%d undone=%d" % [game.objective, turn, game.poses.size(), collided, game.undone])
	_next_game()

func _complete():
	return turn > 6 and game.poses.size() == Pieces.SHAPES.size()

func _refuse(text):
	counts["errors"] += 1
	printerr("PROTOCOL ERROR " + text)
	_send({"type": "error", "message": "no such thing"})
	_finish()

func _check(fine, problem):
	if not fine:
		printerr("FAILED in game %d, turn %d: %s" % [number, turn, problem])
		quit(1)
