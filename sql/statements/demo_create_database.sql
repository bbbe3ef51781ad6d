-- Makes the demo's database.
CREATE DATABASE {{ database }}
