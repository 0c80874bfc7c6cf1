// The first script: it asks for what the page begins with. Those behind it are many, and take longer.
import * as client from "./client.js";

client.takeToken();
client.begin();
