import { twoHands } from "./two_hands.js";

export default twoHands("Leduc hold'em");
