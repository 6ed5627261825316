// Serves the document's agents until its input ends; prints the address.
import { server } from './dist/mafia_document.js';

await server.start();
console.log(server.url);
process.stdin.resume();
process.stdin.on('end', () => server.stop());
