// The first script asks for what the page begins with, while the others are on their way.
import * as client from "./client.js";

client.takeToken();
client.begin();
